import { finished } from 'node:stream/promises';
import { type GridFSBucket, ObjectId } from 'mongodb';
import type { ArtifactCollections, StoredFile } from '../mongo/artifact-documents.ts';
import type { FileContent } from '../remote/backend.ts';

/**
 * Maximum size of a chunk: most images are one chunk. Every chunk is written with majority, because a capture must not
 * outlive its chunks when another server takes over.
 */
const CHUNK_BYTES = 1024 * 1024;

/** Writes a file that no capture names yet. If it fails, the sweep removes the part that was written. */
export async function uploadFile(bucket: GridFSBucket, { kind, name, content }: FileContent): Promise<StoredFile> {
  const bytes = content.byteLength;
  const file = new ObjectId();
  if (bytes === 0) return { kind, file, bytes, chunk_bytes: CHUNK_BYTES };
  // At most the size of the file, because the driver allocates a whole chunk.
  const chunk_bytes = Math.min(bytes, CHUNK_BYTES);
  const upload = bucket.openUploadStreamWithId(file, name, { chunkSizeBytes: chunk_bytes });
  upload.end(content);
  await finished(upload);
  return { kind, file, bytes, chunk_bytes };
}

/** Removes files that no capture will ever name. Chunks go last, because the sweep finds files by their chunks. */
export async function deleteFiles(
  { files, chunks }: Pick<ArtifactCollections, 'files' | 'chunks'>,
  ids: readonly ObjectId[],
): Promise<void> {
  if (ids.length === 0) return;
  await files.deleteMany({ _id: { $in: [...ids] } });
  await chunks.deleteMany({ files_id: { $in: [...ids] } });
}

export function idsOf(files: readonly StoredFile[]): readonly ObjectId[] {
  return files.map(({ file }) => file);
}
