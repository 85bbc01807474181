import type { Binary, Collection, Db, ObjectId } from 'mongodb';
import type { ArtifactKind, ArtifactStoreKind } from '../../capture/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';

/*
 * Captures in MongoDB:
 *
 *   artifacts            one document for each capture, inserted after its files: it makes the capture appear whole
 *   artifacts.files,     the images and HTML snapshots, in GridFS
 *   artifacts.chunks
 *   artifacts.removed    files of removed captures, which open readers may still read for a while
 *   locks                locks that one process holds at a time
 *
 * A file belongs to one capture, and a capture that is stored again gets new files. A file that no capture names is
 * removed by `sweep.ts`.
 */

/** The name of the store in the records of its captures. It needs no id: records and artifacts share one database. */
export const STORE = 'gridfs' satisfies ArtifactStoreKind;

const NAME = 'artifacts';

export interface StoredFile {
  readonly kind: ArtifactKind;
  /** Id of the file in GridFS, where an empty file is not stored. */
  readonly file: ObjectId;
  readonly bytes: number;
  /** Size of every chunk except the last. */
  readonly chunk_bytes: number;
}

/** Returns the number of chunks of a file that is whole. */
export function chunksOf({ bytes, chunk_bytes }: StoredFile): number {
  return Math.ceil(bytes / chunk_bytes);
}

export interface CaptureDocument {
  /** The id of the capture. */
  readonly _id: number;
  readonly info: ScreenshotInfo;
  /** The whole record as JSON. */
  readonly record: string;
  readonly files: readonly StoredFile[];
  /** Bytes of the files and of the record. */
  readonly bytes: number;
}

/** Prevents a file that is being removed from becoming part of a capture, because `files.file` is unique. */
interface VoidDocument {
  readonly _id: ObjectId;
  readonly files: readonly { readonly file: ObjectId }[];
  readonly voided_at: Date;
}

export interface ChunkDocument {
  readonly _id: ObjectId;
  readonly files_id: ObjectId;
  readonly n: number;
  readonly data: Binary;
}

interface RemovedDocument {
  /** The id of the file. */
  readonly _id: ObjectId;
  readonly removed_at: Date;
}

export interface ArtifactCollections {
  /** Ids of captures are numbers and those of voids are not, so that a comparison with a number finds captures only. */
  readonly captures: Collection<CaptureDocument>;
  /** The same collection. */
  readonly voids: Collection<VoidDocument>;
  readonly files: Collection<{ readonly _id: ObjectId }>;
  readonly chunks: Collection<ChunkDocument>;
  readonly removed: Collection<RemovedDocument>;
}

export function artifactCollections(db: Db): ArtifactCollections {
  return {
    captures: db.collection(NAME),
    voids: db.collection(NAME),
    files: db.collection(`${NAME}.files`),
    chunks: db.collection(`${NAME}.chunks`),
    removed: db.collection(`${NAME}.removed`),
  };
}

export const BUCKET = { bucketName: NAME } as const;
export const BY_FILE = 'by_file';
export const BY_KEY = 'by_key';

/** Creates the indexes, those of GridFS included, so that the first upload need not. */
export async function prepareArtifacts(db: Db): Promise<void> {
  const { captures, files, chunks, removed } = artifactCollections(db);
  await captures.createIndexes([
    { name: BY_FILE, key: { 'files.file': 1 }, unique: true },
    // The bytes of each API key are read from the index alone.
    { name: BY_KEY, key: { _id: 1, bytes: 1, 'info.api_key_name': 1 } },
  ]);
  await files.createIndexes([{ key: { filename: 1, uploadDate: 1 } }]);
  await chunks.createIndexes([{ key: { files_id: 1, n: 1 }, unique: true }]);
  await removed.createIndexes([{ name: 'by_time', key: { removed_at: 1 } }]);
}
