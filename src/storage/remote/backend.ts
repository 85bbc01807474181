import type { ArtifactStoreKind } from '../../capture/artifacts/artifacts.ts';
import type { ByteSpan } from '../ports/artifact-store.ts';

/**
 * A place for bytes under keys, outside of the data directory: `remote-store.ts` makes an artifact store of it, and
 * `sweep.ts` deletes what is left over. All methods reject with the code for a store that cannot be reached.
 */
export interface Backend {
  /** The name of the store in the records of its captures. */
  readonly name: ArtifactStoreKind;
  /** Size of the pieces in which files are read. A download that nobody reads holds about three. */
  readonly pieceBytes: number;
  /** Writes a file under a key that was never used. It may be there in part until this resolves. */
  putFile(key: string, content: Uint8Array, facts: FileFacts): Promise<void>;
  /** Writes a small object, which appears whole. */
  put(key: string, content: Uint8Array): Promise<void>;
  /** Writes a small object unless there is one with this key; resolves with whether it did. */
  insert(key: string, content: Uint8Array): Promise<boolean>;
  /** Reads bytes of an object: fewer when it ends earlier, or a part of it is gone. */
  get(key: string, span: ByteSpan): Promise<Buffer | undefined>;
  /** Returns the size of an object in bytes; undefined when it, or a part of it, is gone. */
  size(key: string): Promise<number | undefined>;
  /** Iterates over the objects whose keys begin so, in the order of their keys. `after`: those above this key. */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /** Iterates over the ids of captures below one, greatest first. `wanted`: how many are probably read. */
  newest(before: number, wanted: number): AsyncIterable<number>;
  /** Removes objects; those that do not exist are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** See `OpenArtifact`. */
  readonly location?:
    | ((key: string, named: { readonly type: string; readonly file: string }) => Promise<string>)
    | undefined;
  close(): void;
}

export interface FileFacts {
  /** Media type. */
  readonly type: string;
  /** In hex. */
  readonly sha256: string;
}

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  /** Time since it was written, by the clock of the store, in milliseconds. */
  readonly ageMs: number;
}
