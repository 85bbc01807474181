import { CapstanError, type FailureCode } from '../../capture/errors.ts';
import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { shareOf } from '../../fairness/share.ts';
import type { Condition, Document, DocumentStore, Room } from '../ports/document-store.ts';
import { fieldsIn, type SharedTable, type Table } from '../ports/document-tables.ts';
import { whereKey } from './find-and-change.ts';

/* The room that documents of API keys have. Stores check it while they add one. */

/** Number and bytes of documents: those of all API keys, and those of one. */
interface Usage {
  readonly all: Amount;
  readonly own: Amount;
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

/** Value of `Retry-After`, in seconds. Many small jobs end in that time. */
const RETRY_AFTER_SECONDS = 5;

/** @throws CapstanError when what is stored leaves no room for `added`. */
export function checkRoom(table: SharedTable, room: Room, { all, own }: Usage, added: Amount): void {
  const { code, text, max: usual } = LIMITS[table];
  const { keysShare, max = usual } = room;
  const said = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`;
  const counted = { max: max.count, all: all.count, own: own.count, added: added.count };
  checkAmount({ keysShare, code }, counted, { of: ` ${text}`, said: String, more: 'another' });
  const measured = { max: max.bytes, all: all.bytes, own: own.bytes, added: added.bytes };
  checkAmount({ keysShare, code }, measured, { of: ` of ${text}`, said, more: `${said(added.bytes)} more` });
}

interface Words {
  readonly of: string;
  readonly said: (amount: number) => string;
  readonly more: string;
}

function checkAmount(
  { keysShare, code }: { readonly keysShare: boolean; readonly code: FailureCode },
  { max, all, own, added }: Readonly<Record<'max' | 'all' | 'own' | 'added', number>>,
  { of, said, more }: Words,
): void {
  const free = max - all;
  const isFull = free < added;
  if (!isFull && (!keysShare || added === 0 || shareOf(free, own) >= added)) return;
  const reason = isFull
    ? `There are ${said(all)}${of}, and no room for ${more}: at most ${said(max)} are accepted.`
    : `The API key has ${said(own)}${of}, and its share has no room for ${more}: ${said(free)} are left for all keys.`;
  throw new CapstanError(code, reason, code === 'queue_full' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {});
}
