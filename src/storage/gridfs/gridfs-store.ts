import { type Db, GridFSBucket } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';
import type { Marks } from '../../capture/marks.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import {
  artifactCollections,
  BUCKET,
  BY_KEY,
  type CaptureDocument,
  STORE,
  type StoredFile,
} from '../mongo/artifact-documents.ts';
import type { Ask } from '../mongo/connection.ts';
import { isDuplicateKey } from '../mongo/duplicate-key.ts';
import { createPace } from '../passes/pace.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Backend, NewCapture } from '../remote/backend.ts';
import { createRemoteStore } from '../remote/remote-store.ts';
import { deleteFiles, idsOf, uploadFile } from './grid-files.ts';
import { openFile } from './read-file.ts';

/** Number of captures whose bytes are summed at once, and number of ids that are read at once. */
const SUMMED_TOGETHER = 50_000;
const IDS_READ = 250;
/** The field with the name of the API key. */
const KEY = 'info.api_key_name';

/** The artifact store that all processes on one MongoDB database share. */
export function createGridfsStore(database: Db, ask: Ask): ArtifactStore {
  return createRemoteStore(gridfsBackend(database, ask));
}

function gridfsBackend(database: Db, ask: Ask): Backend<StoredFile> {
  const collections = artifactCollections(database);
  const { captures, chunks, removed } = collections;
  const bucket = new GridFSBucket(database, { ...BUCKET, writeConcern: { w: 'majority', journal: true } });

  /** Inserts the capture; undefined when there is one with this id. */
  async function insert({ info, record, files }: NewCapture<StoredFile>): Promise<number | undefined> {
    const bytes = files.reduce((sum, file) => sum + file.bytes, Buffer.byteLength(record));
    try {
      await captures.insertOne({ _id: info.id, info, record, files, bytes });
      return bytes;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if ((await captures.countDocuments({ _id: info.id })) > 0) return undefined;
      throw new CapstanError('database_unavailable', 'The files were removed because their upload took too long.');
    }
  }

  async function list(limit: number, before: number): Promise<readonly ScreenshotInfo[]> {
    const found = await captures
      .find({ _id: { $lt: before } })
      .project<Pick<CaptureDocument, 'info'>>({ info: 1 })
      .sort({ _id: -1 })
      .limit(limit)
      .toArray();
    return found.map((one) => one.info);
  }

  /** Tries again when another process has changed the record meanwhile. */
  async function mark(_id: number, marks: Marks): Promise<number> {
    for (;;) {
      const before = (await captures.findOne({ _id }, { projection: { record: 1 } }))?.record;
      if (before === undefined) return 0;
      const record = JSON.stringify({ ...JSON.parse(before), ...marks });
      const added = Buffer.byteLength(record) - Buffer.byteLength(before);
      const change = { $set: { record }, $inc: { bytes: added } };
      if ((await captures.updateOne({ _id, record: before }, change)).matchedCount > 0) return added;
    }
  }

  async function* oldest(key?: string | null, first = 0): AsyncGenerator<number> {
    const ofKey = key === undefined ? {} : { [KEY]: key };
    const hint = key === undefined ? '_id_' : BY_KEY;
    for (let after = first; ; ) {
      const found = await ask(() =>
        captures
          .find({ _id: { $gt: after }, ...ofKey })
          .hint(hint)
          .project<{ _id: number }>({ _id: 1 })
          .sort({ _id: 1 })
          .limit(IDS_READ)
          .toArray(),
      );
      for (const { _id } of found) yield _id;
      const last = found.at(-1);
      if (last === undefined) return;
      after = last._id;
    }
  }

  /**
   * The files are noted first, so that a crash leaves no file that cannot be found. They are deleted later, so that
   * readers that have opened them can finish.
   */
  async function remove(ids: readonly number[]): Promise<readonly number[]> {
    const found = await captures
      .find({ _id: { $in: [...ids] } })
      .project<Pick<CaptureDocument, '_id' | 'files' | 'bytes'>>({ files: 1, bytes: 1 })
      .toArray();
    const files = found.flatMap((one) => idsOf(one.files));
    if (files.length > 0) {
      const now = [{ $set: { removed_at: '$$NOW' } }];
      await removed.bulkWrite(
        files.map((_id) => ({ updateOne: { filter: { _id }, update: now, upsert: true } })),
        { ordered: false },
      );
    }
    const deleted = await Promise.all(
      found.map(async ({ _id, bytes }) => ((await captures.deleteOne({ _id })).deletedCount === 1 ? bytes : null)),
    );
    return deleted.filter((bytes) => bytes !== null);
  }

  async function sums(signal?: AbortSignal): Promise<ReadonlyMap<string | null, number>> {
    const pace = createPace(signal);
    const bytes = new Map<string | null, number>();
    for (let after = 0; ; ) {
      const step = await ask(() =>
        captures
          .aggregate<{ readonly _id: string | null; readonly last: number; readonly bytes: number }>(
            [
              { $match: { _id: { $gt: after } } },
              { $sort: { _id: 1 } },
              { $limit: SUMMED_TOGETHER },
              { $group: { _id: `$${KEY}`, last: { $max: '$_id' }, bytes: { $sum: '$bytes' } } },
            ],
            { hint: BY_KEY },
          )
          .toArray(),
      );
      if (step.length === 0) break;
      for (const { _id: key, bytes: own } of step) bytes.set(key, (bytes.get(key) ?? 0) + own);
      after = Math.max(...step.map(({ last }) => last));
      await pace();
      signal?.throwIfAborted();
    }
    return bytes;
  }

  return {
    name: STORE,
    ask,
    upload: (file, { info }) => uploadFile(bucket, { ...file, name: `${info.id}/${file.name}` }),
    discard: (files) => deleteFiles(collections, idsOf(files)),
    insert,
    find: async (_id) => (await captures.findOne({ _id }, { projection: { record: 0 } })) ?? undefined,
    record: async (_id) => (await captures.findOne({ _id }, { projection: { record: 1 } }))?.record,
    open: (file) => openFile(chunks, file),
    list,
    mark,
    oldest,
    remove,
    sums,
  };
}
