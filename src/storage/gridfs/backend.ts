import { Binary, type Db, type Document, type Filter, ObjectId } from 'mongodb';
import { artifactCollections, BY_KEY, type ObjectDocument } from '../mongo/artifact-objects.ts';
import type { Ask } from '../mongo/connection.ts';
import { isDuplicateKey } from '../mongo/failure.ts';
import type { ByteSpan } from '../ports/artifact-store.ts';
import type { Backend, ListedObject } from '../remote/backend.ts';
import { CAPTURES, folderOf, partsOf } from '../remote/keys.ts';

/** Size of each part of a small object, except the last. */
const PART_BYTES = 64 * 1024;
/** Size of each chunk of a file, except the last. */
const CHUNK_BYTES = 1024 * 1024;
/** Maximum number of objects that are listed at once. */
const LISTED_TOGETHER = 500;
/** Objects of most captures: record, image, and marks that were given later. */
const OBJECTS_OF_CAPTURE = 3;

export function gridfsBackend(database: Db, ask: Ask): Backend {
  const { objects, chunks } = artifactCollections(database);

  function write(filter: Filter<ObjectDocument>, key: string, { byteLength }: Uint8Array, more: Document = {}) {
    const fields = { filename: key, length: byteLength, chunkSize: CHUNK_BYTES, uploadDate: '$$NOW', ...more };
    return objects.updateOne({ _id: key, ...filter }, [{ $set: fields }], { upsert: true });
  }

  /** The document is written first, so that the sweep finds what a crash leaves, and removed last. */
  async function putFile(key: string, content: Uint8Array, givenUp?: AbortSignal): Promise<void> {
    try {
      await write({}, key, content);
      for (const [n, data] of cut(content, CHUNK_BYTES).entries()) {
        givenUp?.throwIfAborted();
        await chunks.insertOne({ _id: new ObjectId(), files_id: key, n, data });
      }
    } finally {
      // Its caller has removed the file, so nothing else finds what was written since.
      if (givenUp?.aborted === true) await remove([key]);
    }
  }

  async function remove(keys: readonly string[]): Promise<void> {
    await chunks.deleteMany({ files_id: { $in: [...keys] } });
    await objects.deleteMany({ _id: { $in: [...keys] } });
  }

  async function insert(key: string, content: Uint8Array): Promise<boolean> {
    try {
      // Matches no document, so that it adds one or fails.
      await write({ length: -1 }, key, content, { parts: cut(content, PART_BYTES) });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async function get(key: string, span: ByteSpan): Promise<Buffer | undefined> {
    const first = Math.floor(span.start / PART_BYTES);
    const parts = { $slice: [first, Math.floor(span.end / PART_BYTES) - first + 1] };
    const found = await objects.findOne({ _id: key }, { projection: { parts } });
    if (found === null) return undefined;
    return found.parts === undefined
      ? spanOf(await chunksOf(key, span), CHUNK_BYTES, span)
      : spanOf(found.parts, PART_BYTES, span);
  }

  async function chunksOf(key: string, { start, end }: ByteSpan): Promise<readonly Binary[]> {
    const n = { $gte: Math.floor(start / CHUNK_BYTES), $lte: Math.floor(end / CHUNK_BYTES) };
    return (await chunks.find({ files_id: key, n }).sort({ n: 1 }).toArray()).map(({ data }) => data);
  }

  async function size(key: string): Promise<number | undefined> {
    const found = await objects.findOne({ _id: key }, { projection: { length: 1, parts: { $slice: 1 } } });
    if (found === null || found.parts !== undefined) return found?.length;
    // Counted from an index.
    const count = await chunks.countDocuments({ files_id: key });
    return count === Math.ceil(found.length / CHUNK_BYTES) ? found.length : undefined;
  }

  /** Iterates over the objects with keys between two, both excluded. */
  async function* between(
    above: string,
    below: string,
    direction: 1 | -1,
    together = LISTED_TOGETHER,
  ): AsyncGenerator<ListedObject> {
    for (let [$gt, $lt] = [above, below]; ; ) {
      const found = await ask(() =>
        objects
          .aggregate<ListedObject>(
            [
              { $match: { _id: { $gt, $lt } } },
              { $sort: { _id: direction } },
              { $limit: together },
              { $project: { _id: 0, key: '$_id', bytes: '$length', ageMs: { $subtract: ['$$NOW', '$uploadDate'] } } },
            ],
            { hint: BY_KEY },
          )
          .toArray(),
      );
      yield* found;
      const last = found.at(-1)?.key;
      if (last === undefined) return;
      if (direction === 1) $gt = last;
      else $lt = last;
    }
  }

  async function* newest(before: number, wanted: number): AsyncGenerator<number> {
    const together = Math.min(wanted * OBJECTS_OF_CAPTURE, LISTED_TOGETHER);
    for await (const { key } of between(CAPTURES, folderOf(before), -1, together)) {
      const parts = partsOf(key);
      if (parts?.part === 'capture') yield parts.id;
    }
  }

  return {
    name: 'gridfs',
    pieceBytes: CHUNK_BYTES,
    putFile: (key, content) => ask((givenUp) => putFile(key, content, givenUp)),
    put: async (key, content) => void (await ask(() => write({}, key, content, { parts: cut(content, PART_BYTES) }))),
    insert: (key, content) => ask(() => insert(key, content)),
    get: (key, span) => ask(() => get(key, span)),
    size: (key) => ask(() => size(key)),
    list: (prefix, after = prefix) => between(after, `${prefix}~`, 1),
    newest,
    remove: (keys) => ask(() => remove(keys)),
    close: () => {},
  };
}

function cut(content: Uint8Array, bytes: number): readonly Binary[] {
  return Array.from(
    { length: Math.ceil(content.byteLength / bytes) },
    (_, n) => new Binary(content.subarray(n * bytes, (n + 1) * bytes)),
  );
}

/** Returns the bytes of a span from the pieces of this size that it touches. */
function spanOf(pieces: readonly Binary[], size: number, { start, end }: ByteSpan): Buffer {
  const skipped = start - (start % size);
  return Buffer.concat(pieces.map(({ buffer }) => buffer)).subarray(start - skipped, end + 1 - skipped);
}
