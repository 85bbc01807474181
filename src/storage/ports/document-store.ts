import { CapstanError, type FailureCode } from '../../capture/errors.ts';
import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { shareOf } from '../../fairness/share.ts';
import { type Field, type Fields, fieldsIn, type SharedTable, type Table } from './document-tables.ts';

/*
 * The port to small documents that change: jobs, watches, standing queries, idempotency keys, leases. A document is
 * replaced as a whole, and only when its revision is still the one that was read; so a lease is an ordinary change.
 */

interface Content {
  readonly id: string;
  /** Which the store does not interpret: JSON, but for idempotency keys and leases. */
  readonly body: string;
}

/** A document with the fields of its table. */
export type Document<T extends Table = Table> = Fields[T] &
  Content & {
    /** Additional bytes, which lists do not read. When undefined, the stored bytes are kept. */
    readonly data?: Uint8Array | undefined;
    /** Bytes of other documents that belong to this one, and count with it. @default 0 */
    readonly besides?: number | undefined;
  };

export type StoredDocument<T extends Table = Table> = Fields[T] &
  Content & {
    /** Changes with each replacement. */
    readonly revision: string;
    /** All bytes that count for the document. */
    readonly bytes: number;
  };

export type Condition<T extends Table = Table> =
  | readonly [Field<T>, '=' | '<' | '<=' | '>', string | number]
  | readonly [Field<T>, 'in' | 'not in', readonly string[]]
  /** Whether a field of several labels has this one. */
  | readonly [Field<T>, 'has', string];

/** Returns labels as a field for the condition `has`: each between line breaks, which no label contains. */
export function labelsField(labels: readonly string[]): string {
  return labels.map((label) => `\n${label}\n`).join('');
}

export interface Order<T extends Table = Table> {
  /** @default 'id' */
  readonly by?: Field<T>;
  readonly isDescending?: boolean;
  /** @default unlimited */
  readonly limit?: number;
  /** Leaves `body` empty. */
  readonly isBrief?: boolean;
  /** Ends the list with the document whose body reaches this many bytes in all. @default unlimited */
  readonly maxBytes?: number;
}

/** Number and bytes of documents: those of all API keys, and those of one. */
interface Usage {
  readonly all: Amount;
  readonly own: Amount;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface DocumentStore {
  /** Milliseconds since 1970 by the clock of the database, because the clocks of the machines may differ. */
  now(): Promise<number>;
  /** Returns the documents that meet all conditions. */
  list<T extends Table>(
    table: T,
    where: readonly Condition<T>[],
    order?: Order<T>,
  ): Promise<readonly StoredDocument<T>[]>;
  /** Returns the number of the documents that meet all conditions, and their bytes. */
  usage<T extends Table>(table: T, where: readonly Condition<T>[]): Promise<Amount>;
  /** Returns the number of the documents that meet all conditions, by their values of a field. */
  countBy<T extends Table>(
    table: T,
    field: Field<T>,
    where: readonly Condition<T>[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Returns the additional bytes of a document; undefined when there are none. */
  data(table: Table, id: string): Promise<Uint8Array | undefined>;
  /** Adds documents. Existing documents with the same id are not changed. */
  add<T extends Table>(table: T, documents: readonly Document<T>[]): Promise<void>;
  /** Adds a document. Rejects with the code of its limit when the table is full. */
  addWithin<T extends SharedTable>(table: T, document: Document<T>, room: Room): Promise<void>;
  /**
   * Replaces the document with this revision, and erases the old one, because requests may contain credentials. Without
   * a revision, adds the document. Resolves with false when it was changed, removed or added meanwhile.
   */
  replace<T extends Table>(table: T, document: Document<T>, revision: string | undefined): Promise<boolean>;
  /** Erases documents. Returns their number. */
  remove<T extends Table>(table: T, where: readonly Condition<T>[]): Promise<number>;
}

/** Part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Whether the list may go on. */
  readonly isCut: boolean;
}

/** Lists at most `limit` documents, and fewer when they are large, so that a page holds up no other request. */
export async function pageOf<T extends Table>(
  store: DocumentStore,
  table: T,
  where: readonly Condition<T>[],
  { limit, maxBytes = STORED_LIMITS.page.bytes, ...order }: Order<T> & { readonly limit: number },
): Promise<Page<StoredDocument<T>>> {
  const found = await store.list(table, where, { ...order, limit: limit + 1, maxBytes });
  const isFull = found.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0) >= maxBytes;
  return { items: found.slice(0, limit), isCut: isFull || found.length > limit };
}

/** Returns the bytes that count for a document, besides its `data`. */
export function bytesOf<T extends Table>(table: T, document: Document<T>): number {
  const { id, body, besides = 0 } = document;
  const texts = [id, body, ...Object.values(fieldsIn(table, document))].filter((value) => typeof value === 'string');
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), besides);
}

/** Returns what a document takes of a room. */
export function amountOf<T extends Table>(table: T, document: Document<T>): Amount {
  return { count: 1, bytes: bytesOf(table, document) + (document.data?.byteLength ?? 0) };
}

export async function find<T extends Table>(
  store: DocumentStore,
  table: T,
  id: string,
  ...where: readonly Condition<T>[]
): Promise<StoredDocument<T> | undefined> {
  const [found] = await store.list(table, [['id', '=', id], ...where]);
  return found;
}

/**
 * Replaces a document by the result of `next`. Calls `next` again when another process changed the document meanwhile.
 * Returns the new document; undefined when `next` wants no change.
 */
export async function change<T extends Table>(
  store: DocumentStore,
  table: T,
  id: string,
  next: (found: StoredDocument<T> | undefined) => Document<T> | undefined,
): Promise<Document<T> | undefined> {
  for (;;) {
    const found = await find(store, table, id);
    const changed = next(found);
    if (changed === undefined || (await store.replace(table, changed, found?.revision))) return changed;
  }
}

/** Limit on the documents in a table. */
interface Limit<T extends SharedTable> {
  readonly max: Amount;
  /** Conditions of the documents that count. */
  readonly where: readonly Condition<T>[];
  /** Whether processes that share the database count one after another. Otherwise, a few may exceed the limit. */
  readonly isExact: boolean;
  readonly code: FailureCode;
  /** Name of the documents in error texts. */
  readonly text: string;
}

const EXACT = { where: [], isExact: true } as const;

export const LIMITS: { readonly [T in SharedTable]: Limit<T> } = {
  jobs: {
    max: STORED_LIMITS.unfinishedJobs,
    where: [['phase', '=', 'unfinished']],
    isExact: false,
    code: 'queue_full',
    text: 'unfinished jobs',
  },
  watches: { ...EXACT, max: STORED_LIMITS.watches, code: 'too_many_watches', text: 'watches' },
  queries: { ...EXACT, max: STORED_LIMITS.queries, code: 'too_many_queries', text: 'standing queries' },
  shared_links: { ...EXACT, max: STORED_LIMITS.sharedLinks, code: 'too_many_shared_links', text: 'shared links' },
  receivers: { ...EXACT, max: STORED_LIMITS.receivers, code: 'too_many_receivers', text: 'receivers' },
};

/** The room that a document is to have. */
export interface Room {
  /** Whether keys share the places; false when there are no other keys. */
  readonly isShared: boolean;
  /** @default that of `LIMITS` */
  readonly max?: Amount | undefined;
}

/** Rejects when what is stored leaves no room for `added` of an API key. */
export async function requireRoom(
  { usage }: Pick<DocumentStore, 'usage'>,
  table: SharedTable,
  apiKey: string,
  room: Room,
  added: Amount,
): Promise<void> {
  const where: readonly Condition<SharedTable>[] = LIMITS[table].where;
  const [all, own] = await Promise.all([usage(table, where), usage(table, [...where, ...whereKey(apiKey)])]);
  checkRoom(table, room, { all, own }, added);
}

/** Returns the conditions of the documents of an API key, or of all. */
export function whereKey(apiKey: string | undefined): readonly (readonly ['apiKey', '=', string])[] {
  return apiKey === undefined ? [] : [['apiKey', '=', apiKey]];
}

/** Value of `Retry-After`, in seconds. Many small jobs end in that time. */
const RETRY_AFTER_SECONDS = 5;

/** @throws CapstanError when what is stored leaves no room for `added`. */
export function checkRoom(table: SharedTable, room: Room, { all, own }: Usage, added: Amount): void {
  const { code, text, max: usual } = LIMITS[table];
  const { isShared, max = usual } = room;
  const said = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`;
  const counted = { max: max.count, all: all.count, own: own.count, added: added.count };
  checkAmount({ isShared, code }, counted, { of: ` ${text}`, said: String, more: 'another' });
  const measured = { max: max.bytes, all: all.bytes, own: own.bytes, added: added.bytes };
  checkAmount({ isShared, code }, measured, { of: ` of ${text}`, said, more: `${said(added.bytes)} more` });
}

interface Words {
  readonly of: string;
  readonly said: (amount: number) => string;
  readonly more: string;
}

function checkAmount(
  { isShared, code }: { readonly isShared: boolean; readonly code: FailureCode },
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
