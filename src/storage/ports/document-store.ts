import type { Amount } from '../../capture/stored-limits.ts';
import type { Field, Fields, SharedTable, Table } from './document-tables.ts';

/*
 * The port to small documents that change: jobs, watches, standing queries, idempotency keys, leases. A document is
 * replaced as a whole, and only when its revision is still the one that was read; so a lease is an ordinary change.
 */

interface Content {
  readonly id: string;
  /** The store does not interpret it: JSON, but for idempotency keys and leases. */
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

/** The room that a document is to have. */
export interface Room {
  /** Whether keys share the places; false when there are no other keys. */
  readonly keysShare: boolean;
  /** @default that of `LIMITS` */
  readonly max?: Amount | undefined;
}
