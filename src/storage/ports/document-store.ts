import { CapstanError } from '../../capture/errors.ts';
import { shareOf } from '../../capture/share.ts';
import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';

/*
 * The port to small documents that change: jobs, watches, standing queries, idempotency keys, node leases. A document
 * is replaced as a whole, and only when its revision is still the one that was read; so a lease is an ordinary change.
 */

export const TABLES = [
  'jobs',
  'job_results',
  'job_lists',
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
  /** Bytes of other documents that belong to this one, and count with it. @default 0 */
  readonly besides?: number | undefined;
}

export interface StoredDocument extends Omit<Document, 'data' | 'besides'> {
  /** Changes with each replacement. */
  readonly revision: string;
  /** All bytes that count for the document. */
  readonly bytes: number;
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
  /** Ends the list with the document whose body reaches this many bytes in all. @default unlimited */
  readonly maxBytes?: number;
}

/** What documents use: those of all owners, and those of one. */
export interface Usage {
  readonly all: Amount;
  readonly own: Amount;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface DocumentStore {
  /** Milliseconds since 1970 by the clock of the database, because the clocks of the machines may differ. */
  now(): Promise<number>;
  /** Returns the documents that meet all conditions. */
  list(table: Table, where: readonly Condition[], order?: Order): Promise<readonly StoredDocument[]>;
  count(table: Table, where: readonly Condition[]): Promise<number>;
  /** Returns the number of documents that meet all conditions, by their kind. */
  countKinds(table: Table, where: readonly Condition[]): Promise<ReadonlyMap<string, number>>;
  /** Returns the additional bytes of a document; undefined when there are none. */
  data(table: Table, id: string): Promise<Uint8Array | undefined>;
  /** Adds documents. Existing documents with the same id are not changed. */
  add(table: Table, documents: readonly Document[]): Promise<void>;
  /** Adds a document. Rejects with `room.code` when the table is full. */
  addWithin(table: Table, document: Document, room: Room): Promise<void>;
  /** Returns what the documents that meet all conditions use in all, and those of one owner. */
  usage(table: Table, where: readonly Condition[], of: string): Promise<Usage>;
  /**
   * Replaces the document with this revision, and erases the old one, because requests may contain credentials. Without
   * a revision, adds the document. Resolves with false when it was changed, removed or added meanwhile.
   */
  replace(table: Table, document: Document, revision: string | undefined): Promise<boolean>;
  /** Erases documents. Returns their number. */
  remove(table: Table, where: readonly Condition[]): Promise<number>;
}

/** Part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Whether the list may go on. */
  readonly isCut: boolean;
}

/** Lists at most `limit` documents, and fewer when they are large, so that a page holds up no other request. */
export async function pageOf(
  store: DocumentStore,
  table: Table,
  where: readonly Condition[],
  { limit, maxBytes = STORED_LIMITS.page.bytes, ...order }: Order & { readonly limit: number },
): Promise<Page<StoredDocument>> {
  const found = await store.list(table, where, { ...order, limit: limit + 1, maxBytes });
  const isFull = found.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0) >= maxBytes;
  return { items: found.slice(0, limit), isCut: isFull || found.length > limit };
}

/** Returns the bytes that count for a document, besides its `data`. */
export function bytesOf({ id, of, kind, body, besides = 0 }: Document): number {
  return [id, of, kind, body].reduce((bytes, text) => bytes + Buffer.byteLength(text), besides);
}

/** Returns what a document takes of a room. */
export function amountOf(document: Document): Amount {
  return { count: 1, bytes: bytesOf(document) + (document.data?.byteLength ?? 0) };
}

/** Returns a document of an owner, or of any. */
export async function find(
  store: DocumentStore,
  table: Table,
  id: string,
  of?: string,
): Promise<StoredDocument | undefined> {
  const ofOwner: readonly Condition[] = of === undefined ? [] : [['of', '=', of]];
  const [found] = await store.list(table, [['id', '=', id], ...ofOwner]);
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

/** Limit on the documents in a table. */
export interface Room {
  readonly max: Amount;
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

/** @throws CapstanError when what is stored leaves no room for `added`. */
export function checkRoom(room: Room, { all, own }: Usage, added: Amount): void {
  const { max, text } = room;
  const counted = { max: max.count, all: all.count, own: own.count, added: added.count };
  checkAmount(room, counted, { of: ` ${text}`, said: String, more: 'another' });
  const said = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`;
  const measured = { max: max.bytes, all: all.bytes, own: own.bytes, added: added.bytes };
  checkAmount(room, measured, { of: ` of ${text}`, said, more: `${said(added.bytes)} more` });
}

interface Words {
  readonly of: string;
  readonly said: (amount: number) => string;
  readonly more: string;
}

function checkAmount(
  { isShared, code }: Room,
  { max, all, own, added }: Readonly<Record<'max' | 'all' | 'own' | 'added', number>>,
  { of, said, more }: Words,
): void {
  const free = max - all;
  const isFull = free < added;
  if (!isFull && (!isShared || added === 0 || shareOf(free, own) >= added)) return;
  const reason = isFull
    ? `There are ${said(all)}${of}, and no room for ${more}: at most ${said(max)} are accepted.`
    : `The API key has ${said(own)}${of}, and its share has no room for ${more}: ${said(free)} are left for all keys.`;
  throw new CapstanError(code, reason, code === 'queue_full' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {});
}
