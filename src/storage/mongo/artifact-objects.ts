import type { Binary, Collection, Db, ObjectId } from 'mongodb';

/*
 * Captures in MongoDB, in the collections of GridFS: one document in `artifacts.files` for each object, under its key
 * (see `remote/keys.ts`). Files are in `artifacts.chunks`; small objects are in the document itself, which appears
 * whole.
 */

export interface ObjectDocument {
  /** The key. */
  readonly _id: string;
  readonly filename: string;
  readonly length: number;
  readonly chunkSize: number;
  /** By the clock of the server. */
  readonly uploadDate: Date;
  /** The content of a small object, in parts of `PART_BYTES`. */
  readonly parts?: readonly Binary[];
}

interface ChunkDocument {
  readonly _id: ObjectId;
  readonly files_id: string;
  readonly n: number;
  readonly data: Binary;
}

/** The index that listings are read from, without the documents and their content. */
export const BY_KEY = 'by_key';

export function artifactCollections(db: Db) {
  const objects: Collection<ObjectDocument> = db.collection('artifacts.files');
  const chunks: Collection<ChunkDocument> = db.collection('artifacts.chunks');
  return { objects, chunks };
}

export async function prepareArtifacts(db: Db): Promise<void> {
  const { objects, chunks } = artifactCollections(db);
  await objects.createIndexes([{ name: BY_KEY, key: { _id: 1, length: 1, uploadDate: 1 } }]);
  await chunks.createIndexes([{ key: { files_id: 1, n: 1 }, unique: true }]);
}
