import { type Db, GridFSBucket } from 'mongodb';
import { type ArtifactKind, artifactFile } from '../../capture/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Marks } from '../../capture/marks.ts';
import type { StoredRecord } from '../../capture/result.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import { checkedScreenshotInfo, screenshotInfo } from '../files/record-file.ts';
import {
  artifactCollections,
  BUCKET,
  BY_KEY,
  type CaptureDocument,
  chunksOf,
  STORE,
} from '../mongo/artifact-documents.ts';
import type { Ask } from '../mongo/connection.ts';
import { isDuplicateKey } from '../mongo/duplicate-key.ts';
import { createPace } from '../passes/pace.ts';
import {
  type ArtifactStore,
  type CapturedFiles,
  filesIn,
  type OpenArtifact,
  type RemovedArtifacts,
  type StagedCapture,
} from '../ports/artifact-store.ts';
import { asDetailed } from '../records/record.ts';
import { deleteFiles, type FileContent, idsOf, uploadFile } from './grid-files.ts';
import { readFile } from './read-file.ts';

/** Number of captures whose bytes are summed at once, and number of ids that are read at once. */
const SUMMED_TOGETHER = 50_000;
const IDS_READ = 250;
/** The field with the name of the API key. */
const KEY = 'info.api_key_name';

/** The artifact store that all processes on one MongoDB database share. */
export function createGridfsArtifactStore(database: Db, ask: Ask): ArtifactStore {
  const collections = artifactCollections(database);
  const { captures, chunks, removed } = collections;
  const bucket = new GridFSBucket(database, { ...BUCKET, writeConcern: { w: 'majority', journal: true } });
  let total: number | null = null;
  let shares: ReadonlyMap<string | null, number> = new Map();

  function changed(bytes: number): void {
    if (total !== null) total = Math.max(total + bytes, 0);
  }

  /**
   * Uploads the files. All uploads end before anything is removed: a running upload would leave its file behind. Uploads
   * that `ask` gives up continue; the sweep removes their files.
   */
  async function upload(contents: readonly FileContent[]) {
    const uploads = await Promise.allSettled(contents.map((content) => uploadFile(bucket, content)));
    const files = uploads.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = uploads.find(({ status }) => status === 'rejected');
    if (failed?.status !== 'rejected') return files;
    // The sweep removes files that cannot be removed now.
    await deleteFiles(collections, idsOf(files)).catch(() => undefined);
    throw failed.reason;
  }

  async function stage(record: StoredRecord, captured: CapturedFiles): Promise<StagedCapture> {
    const info = await screenshotInfo(record, captured.image);
    const text = JSON.stringify(record);
    const files = await ask(() =>
      upload(
        filesIn(captured).map(([kind, content]) => ({
          kind,
          name: `${info.id}/${artifactFile(kind, info.format)}`,
          content: typeof content === 'string' ? Buffer.from(content) : content,
        })),
      ),
    );
    const bytes = files.reduce((sum, file) => sum + file.bytes, Buffer.byteLength(text));
    return staged({ _id: info.id, info, record: text, files, bytes });
  }

  function staged(capture: CaptureDocument): StagedCapture {
    const { _id, info, files, bytes } = capture;
    let state: 'uploaded' | 'published' | 'unknown' | 'deleted' = 'uploaded';
    const deleteUnused = async () => {
      state = 'deleted';
      await ask(() => deleteFiles(collections, idsOf(files)));
    };
    return {
      info,
      publish: async () => {
        // Until there is an answer, the server may insert the document at any time.
        state = 'unknown';
        const isFirst = await ask(() => insertFirst(capture));
        if (isFirst) {
          state = 'published';
          changed(bytes);
        } else await deleteUnused().catch(() => undefined);
        return isFirst;
      },
      discard: async () => {
        if (state === 'published') await remove([_id]);
        else if (state === 'uploaded') await deleteUnused();
      },
    };
  }

  /** Inserts the capture; false when there is one with this id. */
  async function insertFirst(capture: CaptureDocument): Promise<boolean> {
    try {
      await captures.insertOne(capture);
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if ((await captures.countDocuments({ _id: capture._id })) > 0) return false;
      throw new CapstanError('database_unavailable', 'The files were removed because their upload took too long.');
    }
  }

  async function find<K extends keyof CaptureDocument>(
    id: number,
    ...fields: readonly K[]
  ): Promise<Pick<CaptureDocument, K> | null> {
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    return ask(() => captures.findOne<Pick<CaptureDocument, K>>({ _id: id }, { projection }));
  }

  async function info(id: number): Promise<ScreenshotInfo | undefined> {
    const found = await find(id, 'info');
    return found === null ? undefined : checkedScreenshotInfo(found.info);
  }

  async function record(id: number): Promise<StoredRecord | undefined> {
    const found = await find(id, 'record');
    if (found === null) return undefined;
    const { evidence, ...rest } = JSON.parse(found.record);
    return asDetailed(rest, evidence);
  }

  /** Tries again when another process has changed the record meanwhile. */
  async function mark(id: number, marks: Marks): Promise<void> {
    for (;;) {
      const found = await find(id, 'record');
      if (found === null) return;
      const { record: before } = found;
      const record = JSON.stringify({ ...JSON.parse(before), ...marks });
      const added = Buffer.byteLength(record) - Buffer.byteLength(before);
      const change = { $set: { record }, $inc: { bytes: added } };
      const { matchedCount } = await ask(() => captures.updateOne({ _id: id, record: before }, change));
      if (matchedCount === 0) continue;
      changed(added);
      return;
    }
  }

  async function openArtifact(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined> {
    const found = await find(id, 'info', 'files');
    const file = found?.files.find((one) => one.kind === kind);
    if (found === null || file === undefined) return undefined;
    // Counted from an index, before the head of an answer is sent: after it, a missing chunk can only break it off.
    const stored = await ask(() => chunks.countDocuments({ files_id: file.file }));
    if (stored !== chunksOf(file))
      throw new CapstanError('artifact_damaged', `The ${kind} of the capture ${id} is incomplete in GridFS.`);
    return {
      info: checkedScreenshotInfo(found.info),
      bytes: file.bytes,
      stream: (span) => readFile(chunks, file, span),
      close: () => Promise.resolve(),
    };
  }

  async function list(limit: number, before: number = Number.MAX_SAFE_INTEGER): Promise<readonly ScreenshotInfo[]> {
    const found = await ask(() =>
      captures
        .find({ _id: { $lt: before } })
        .project<Pick<CaptureDocument, 'info'>>({ info: 1 })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),
    );
    return found.map((one) => checkedScreenshotInfo(one.info));
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
  async function remove(ids: readonly number[]): Promise<RemovedArtifacts> {
    return ask(async () => {
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
      const sizes = deleted.filter((bytes) => bytes !== null);
      const bytes = sizes.reduce((sum, one) => sum + one, 0);
      changed(-bytes);
      return { captures: sizes.length, bytes };
    });
  }

  async function measure(signal?: AbortSignal): Promise<number> {
    const pace = createPace(signal);
    const sums = new Map<string | null, number>();
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
      for (const { _id: key, bytes } of step) sums.set(key, (sums.get(key) ?? 0) + bytes);
      after = Math.max(...step.map(({ last }) => last));
      await pace();
      signal?.throwIfAborted();
    }
    shares = sums;
    total = sums.values().reduce((sum, bytes) => sum + bytes, 0);
    return total;
  }

  async function probe(): Promise<void> {
    const content = { kind: 'html', name: 'probe', content: Buffer.from('probe') } as const;
    await ask(async () => deleteFiles(collections, idsOf(await upload([content]))));
  }

  return {
    id: () => Promise.resolve(STORE),
    probe,
    stage,
    has: async (id) => (await find(id, '_id')) !== null,
    info,
    record,
    mark,
    open: openArtifact,
    list,
    oldest: (key) => oldest(key),
    oldestAfter: (id) => oldest(undefined, id),
    sizeOf: async (id) => (await find(id, 'bytes'))?.bytes ?? 0,
    remove,
    get bytes() {
      return total;
    },
    measure,
    shares: () => shares,
  };
}
