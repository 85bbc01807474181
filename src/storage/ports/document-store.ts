import { CapstanError } from '../../capture/errors.ts';
import { shareOf } from '../../capture/share.ts';

/*
 * The port to small documents that change: jobs, watches, standing queries, idempotency keys, node leases. A document
 * is replaced as a whole, and only when its revision is still the one that was read; so a lease is an ordinary change.
 */

export const TABLES = [
  'jobs',
  'job_results',
  'watches',
  'watch_labels',
  'watch_runs',
  'queries',
  'idempotency',
  'leases',
] as const;
export type Table = (typeof TABLES)[number];

/** A document; the store selects by its fields, and does not interpret `body`. */
export interface Document {
  readonly id: string;
  /** Owner of the document: an API key, or another document. */
  readonly of: string;
  readonly kind: string;
  readonly at: number;
  /** Time at which the document needs attention, in milliseconds since 1970; null: never. */
  readonly due: number | null;
  /** JSON. */
  readonly body: string;
  /** Additional bytes, which lists do not read. When undefined, the stored bytes are kept. */
  readonly data?: Uint8Array | undefined;
}

export interface StoredDocument extends Omit<Document, 'data'> {
  /** Changes with each replacement. */
  readonly revision: string;
}

type Field = 'id' | 'of' | 'kind' | 'at' | 'due' | 'revision';
export type Condition =
  | readonly [Field, '=' | '<' | '<=' | '>', string | number]
  | readonly [Field, 'in' | 'not in', readonly string[]];

export interface Order {
  /** @default 'id' */
  readonly by?: Field;
  readonly isDescending?: boolean;
  /** @default unlimited */
  readonly limit?: number;
  readonly skip?: number;
  /** Leaves `body` empty. */
  readonly isBrief?: boolean;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface DocumentStore {
  /** Milliseconds since 1970 by the clock of the database, because the clocks of the machines may differ. */
  now(): Promise<number>;
  /** Returns the documents that meet all conditions. */
  list(table: Table, where: readonly Condition[], order?: Order): Promise<readonly StoredDocument[]>;
  count(table: Table, where: readonly Condition[]): Promise<number>;
  /** Returns the additional bytes of a document; undefined when there are none. */
  data(table: Table, id: string): Promise<Uint8Array | undefined>;
  /** Adds documents. Existing documents with the same id are not changed. */
  add(table: Table, documents: readonly Document[]): Promise<void>;
  /** Adds a document. Rejects with `room.code` when the table is full. */
  addWithin(table: Table, document: Document, room: Room): Promise<void>;
  /**
   * Replaces the document with this revision, and erases the old one, because requests may contain credentials. Without
   * a revision, adds the document. Resolves with false when it was changed, removed or added meanwhile.
   */
  replace(table: Table, document: Document, revision: string | undefined): Promise<boolean>;
  /** Erases documents. Returns their number. */
  remove(table: Table, where: readonly Condition[]): Promise<number>;
}

export async function find(store: DocumentStore, table: Table, id: string): Promise<StoredDocument | undefined> {
  const [found] = await store.list(table, [['id', '=', id]]);
  return found;
}

/**
 * Replaces a document by the result of `next`. Calls `next` again when another process changed the document meanwhile.
 * Returns the new document; undefined when `next` wants no change.
 */
export async function change(
  store: DocumentStore,
  table: Table,
  id: string,
  next: (found: StoredDocument | undefined) => Document | undefined,
): Promise<Document | undefined> {
  for (;;) {
    const found = await find(store, table, id);
    const changed = next(found);
    if (changed === undefined || (await store.replace(table, changed, found?.revision))) return changed;
  }
}

/** Limit on the number of documents in a table. */
export interface Room {
  readonly max: number;
  /** Conditions of the documents that count. */
  readonly where: readonly Condition[];
  /** Whether keys share the places; false when there are no other keys. */
  readonly isShared: boolean;
  /** Whether processes that share the database count one after another. Otherwise, a few may exceed the limit. */
  readonly isExact: boolean;
  readonly code: 'queue_full' | 'too_many_queries' | 'too_many_watches';
  /** Name of the documents in error texts. */
  readonly text: string;
}

/** Value of `Retry-After`, in seconds. Many small jobs end in that time. */
const RETRY_AFTER_SECONDS = 5;

/** @throws CapstanError when `all` documents, `own` of them of the same key, leave no room for another one. */
export function checkRoom({ max, isShared, code, text }: Room, all: number, own: number): void {
  const free = max - all;
  const retry = code === 'queue_full' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {};
  if (free < 1) throw new CapstanError(code, `There are ${all} ${text}, which is the maximum.`, retry);
  if (!isShared || shareOf(free, own) >= 1) return;
  const share = `The API key has ${own} ${text}, which is its share: ${free} places are left for other keys.`;
  throw new CapstanError(code, share, retry);
}
