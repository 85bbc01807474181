import { type Db, ObjectId } from 'mongodb';
import { type SharedLock, takeLock } from '../documents/lock.ts';
import { artifactCollections, BY_FILE } from '../mongo/artifact-documents.ts';
import type { Ask } from '../mongo/connection.ts';
import { mongoDocuments } from '../mongo/document-store.ts';
import { isDuplicateKey } from '../mongo/duplicate-key.ts';
import { createSweepPass, READING_MS, type Sweep, UPLOAD_MS } from '../remote/sweep.ts';
import { deleteFiles } from './grid-files.ts';

/*
 * Deletes the files that no capture names. One process at a time does it, for all that share the database:
 *
 *   - files of removed captures, when their readers have had time to finish;
 *   - files of uploads that a crash or an outage cut short. Ids of files begin with the time of the upload, so each
 *     pass looks only at the files that became old enough since the last one.
 *
 * An upload that is still under way after that time cannot become a capture with deleted files: each file is voided
 * before it is deleted. The unique index on the files of captures refuses the void once the capture is there, and
 * refuses the capture once the void is there.
 */

/** Time for which a void is kept, in milliseconds. */
const VOID_MS = 24 * 60 * 60_000;
/** Number of files looked at together. */
const STEP = 500;

/** The result of one step: the number of deleted files, and whether more are left for the next. */
interface Swept {
  readonly deleted: number;
  readonly left: boolean;
}

const NOTHING: Swept = { deleted: 0, left: false };

export interface SweepOptions {
  readonly database: Db;
  readonly ask: Ask;
  readonly readingMs?: number;
  readonly uploadMs?: number;
  /** Called with failures; the next pass retries. */
  readonly onProblem?: (problem: unknown) => void;
}

interface ProgressDocument {
  readonly _id: 'sweep';
  /** The last id that was looked at. */
  readonly swept: ObjectId;
}

export function createSweep(options: SweepOptions): Sweep {
  const { database, ask, readingMs = READING_MS, uploadMs = UPLOAD_MS, onProblem } = options;
  const collections = artifactCollections(database);
  const { captures, voids, chunks, removed } = collections;
  const progress = database.collection<ProgressDocument>('artifacts.progress');
  const documents = mongoDocuments(database, ask);

  async function named(ids: readonly ObjectId[]): Promise<ReadonlySet<string>> {
    const found = captures
      .find({ _id: { $gte: 0 }, 'files.file': { $in: [...ids] } })
      .hint(BY_FILE)
      .project<{ files: readonly { readonly file: ObjectId }[] }>({ 'files.file': 1 });
    const names = new Set<string>();
    for await (const { files } of found) for (const { file } of files) names.add(file.toHexString());
    return names;
  }

  async function dropVoids(before: Date): Promise<Swept> {
    await voids.deleteMany({ _id: { $lt: firstFileIdAt(before) } });
    return NOTHING;
  }

  /** Resolves with the number of deleted files; `left` says whether more wait. */
  async function sweepRemoved(before: Date): Promise<Swept> {
    const due = await removed
      .find({ removed_at: { $lt: before } })
      .sort({ removed_at: 1 })
      .limit(STEP)
      .toArray();
    const ids = due.map(({ _id }) => _id);
    const kept = await named(ids);
    const unused = ids.filter((id) => !kept.has(id.toHexString()));
    await deleteFiles(collections, unused);
    await removed.deleteMany({ _id: { $in: unused } });
    // These files still belong to captures, whose removal was cut short and may be finished at any time.
    const later = ids.filter((id) => kept.has(id.toHexString()));
    if (later.length > 0) await removed.updateMany({ _id: { $in: later } }, [{ $set: { removed_at: '$$NOW' } }]);
    return { deleted: unused.length, left: due.length === STEP };
  }

  async function sweepUploads(before: Date): Promise<Swept> {
    const after = (await progress.findOne({ _id: 'sweep' }))?.swept ?? new ObjectId('0'.repeat(24));
    const found = await chunks
      .find({ files_id: { $gt: after, $lt: firstFileIdAt(before) }, n: 0 })
      .project<{ files_id: ObjectId }>({ files_id: 1, _id: 0 })
      .sort({ files_id: 1 })
      .limit(STEP)
      .toArray();
    const ids = found.map(({ files_id }) => files_id);
    const last = ids.at(-1);
    if (last === undefined) return NOTHING;
    const kept = await named(ids);
    const waiting = await removed.find({ _id: { $in: ids } }).toArray();
    const isKept = (id: ObjectId) => kept.has(id.toHexString()) || waiting.some(({ _id }) => _id.equals(id));
    const voided: ObjectId[] = [];
    for (const id of ids) if (!isKept(id) && (await voidFile(id))) voided.push(id);
    await deleteFiles(collections, voided);
    await progress.updateOne({ _id: 'sweep' }, { $set: { swept: last } }, { upsert: true });
    return { deleted: voided.length, left: found.length === STEP };
  }

  /** Voids a file; false when the file has become part of a capture meanwhile. */
  async function voidFile(file: ObjectId): Promise<boolean> {
    try {
      await voids.insertOne({ _id: file, files: [{ file }], voided_at: new Date() });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // True when an earlier pass voided the file, and ended before it deleted it.
      return (await voids.countDocuments({ _id: file })) > 0;
    }
  }

  return createSweepPass<SharedLock>({
    lock: () => takeLock(documents, 'artifacts.sweep'),
    steps: ({ since }) => {
      const ago = (ms: number) => new Date(since - ms);
      return [
        repeated(() => ask(() => sweepRemoved(ago(readingMs)))),
        repeated(() => ask(() => sweepUploads(ago(uploadMs)))),
        repeated(() => ask(() => dropVoids(ago(VOID_MS)))),
      ];
    },
    onProblem,
  });
}

/** Repeats a step as long as something is left for it. */
async function* repeated(step: () => Promise<Swept>): AsyncGenerator<number> {
  for (let left = true; left; ) {
    const swept = await step();
    left = swept.left;
    yield swept.deleted;
  }
}

/** Returns the smallest id of a file that was uploaded at this time. */
function firstFileIdAt(time: Date): ObjectId {
  return ObjectId.createFromTime(Math.floor(time.getTime() / 1000));
}
