import { Readable } from 'node:stream';
import type { Collection } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';
import { type ChunkDocument, chunksOf, type StoredFile } from '../mongo/artifact-documents.ts';
import type { ByteSpan } from '../ports/artifact-store.ts';

/**
 * Number of chunks that a reader holds. The driver's download stream is not used: it asks for 16 MiB at once, which
 * would stay in memory for a slow client, and looks up the file once more.
 */
const CHUNKS_READ = 2;

/** Opens a file; undefined when a chunk is missing. The stream of it, or of a part, fails when one goes missing. */
export async function openFile(chunks: Collection<ChunkDocument>, file: StoredFile) {
  // Counted from an index.
  if ((await chunks.countDocuments({ files_id: file.file })) !== chunksOf(file)) return undefined;
  return (span: ByteSpan) => Readable.from(bytesOf(chunks, file, span), { objectMode: false });
}

async function* bytesOf(
  chunks: Collection<ChunkDocument>,
  { file, bytes, chunk_bytes }: StoredFile,
  { start, end }: ByteSpan,
): AsyncGenerator<Uint8Array> {
  if (end < start) return;
  const last = Math.floor(end / chunk_bytes);
  let n = Math.floor(start / chunk_bytes);
  const found = chunks.find({ files_id: file, n: { $gte: n, $lte: last } }, { batchSize: CHUNKS_READ }).sort({ n: 1 });
  for await (const chunk of found) {
    const first = n * chunk_bytes;
    const isWhole = chunk.data.length() === Math.min(chunk_bytes, bytes - first);
    if (chunk.n !== n || !isWhole) break;
    yield chunk.data.buffer.subarray(Math.max(start - first, 0), end + 1 - first);
    n += 1;
  }
  if (n > last) return;
  throw new CapstanError('artifact_damaged', `Chunk ${n} of the file ${file.toHexString()} is missing or damaged.`);
}
