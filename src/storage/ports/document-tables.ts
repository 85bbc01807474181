/*
 * The tables of small documents, and the fields by which documents are found and sorted. Times are milliseconds since
 * 1970. `apiKey`: name of the API key that the document belongs to, empty without one; for jobs, its `jobKeyOf`.
 */

interface Schema {
  readonly fields: Readonly<Record<string, keyof Values>>;
  /** Fields of each index. */
  readonly indexes: readonly (readonly string[])[];
}

interface Values {
  readonly text: string;
  readonly integer: number;
  readonly 'integer or null': number | null;
}

/** Ends indexes from which sizes are added up, so that adding reads no documents. */
const SIZE = ['bytes', 'dataBytes'] as const;
/** `owner` has the document until `freeAt`, from which any process may take it; nobody has one without an owner. */
const LEASE = { owner: 'text', freeAt: 'integer' } as const;

export const TABLES = {
  /** `phase`: `unfinished` or `finished`. */
  jobs: {
    fields: {
      ...LEASE,
      apiKey: 'text',
      kind: 'text',
      phase: 'text',
      createdAt: 'integer',
      finishedAt: 'integer or null',
    },
    indexes: [
      ['apiKey', 'createdAt', 'phase', ...SIZE],
      ['phase', 'createdAt', 'freeAt', 'apiKey', 'kind', 'owner', ...SIZE],
      ['finishedAt', 'id', 'phase', 'apiKey'],
    ],
  },
  /** `outcome`: `stored`, or the code of a failure. */
  job_results: {
    fields: { job: 'text', position: 'integer', outcome: 'text' },
    indexes: [['job', 'position', 'outcome', ...SIZE]],
  },
  /**
   * Parts of the lists of jobs. `neededBy`: of the first part, when its job should have been added; null for others.
   */
  job_lists: {
    fields: { job: 'text', position: 'integer', neededBy: 'integer or null' },
    indexes: [['job'], ['neededBy', 'id', 'job']],
  },
  /**
   * A watch is free when its next run is due, and never while it is paused. `host`: also that of a dropped run that is
   * under way. `labels`: see `labelsField`. `plausibleFrom`: earliest time at which a clock that is right may show the
   * next run as planned; null while the watch is leased.
   */
  watches: {
    fields: {
      owner: 'text',
      freeAt: 'integer or null',
      apiKey: 'text',
      host: 'text',
      labels: 'text',
      plausibleFrom: 'integer or null',
    },
    indexes: [
      ['apiKey', ...SIZE],
      ['apiKey', 'id'],
      ['host', 'owner', 'freeAt', 'apiKey'],
      ['freeAt', 'id', 'host', 'apiKey'],
      ['plausibleFrom', 'id'],
      ['owner', 'id'],
    ],
  },
  watch_runs: { fields: { watch: 'integer', dueAt: 'integer' }, indexes: [['watch', 'dueAt']] },
  /** `notifies`: 1 when receivers are told of what matches, else 0. */
  queries: {
    fields: { apiKey: 'text', createdAt: 'integer', notifies: 'integer' },
    indexes: [
      ['apiKey', 'createdAt', ...SIZE],
      ['notifies', 'id'],
    ],
  },
  shared_links: {
    fields: { apiKey: 'text', capture: 'integer', expiresAt: 'integer' },
    indexes: [
      ['apiKey', ...SIZE],
      ['apiKey', 'id'],
      ['capture', 'id'],
      ['expiresAt', 'id'],
    ],
  },
  capture_labels: {
    fields: { apiKey: 'text', label: 'text', notedAt: 'integer' },
    indexes: [['apiKey', 'notedAt', ...SIZE], ['notedAt'], ['label', 'apiKey']],
  },
  /** Receivers that API keys have added. `id`: the key and the name. */
  receivers: {
    fields: { apiKey: 'text', name: 'text' },
    indexes: [
      ['apiKey', ...SIZE],
      ['apiKey', 'name'],
    ],
  },
  /** Messages to receivers. `state`: `waiting` or `dead`. `position`: id of the event. `lane`: see the port. */
  deliveries: {
    fields: {
      apiKey: 'text',
      receiver: 'text',
      lane: 'text',
      state: 'text',
      position: 'integer',
      createdAt: 'integer',
      dueAt: 'integer',
    },
    indexes: [
      ['receiver', 'state', 'apiKey', ...SIZE],
      ['receiver', 'state', 'position', 'lane'],
      ['apiKey', ...SIZE],
      ['state', 'createdAt', 'receiver'],
    ],
  },
  /** The position up to which events were looked at, and the state of each receiver. */
  delivery_states: { fields: { changedAt: 'integer' }, indexes: [['changedAt', 'id']] },
  /** `state`: `begun` or `answered`. */
  idempotency: {
    fields: { ...LEASE, apiKey: 'text', state: 'text', createdAt: 'integer', expiresAt: 'integer' },
    indexes: [
      ['apiKey', 'createdAt', 'state', ...SIZE],
      ['expiresAt', 'id'],
    ],
  },
  nodes: { fields: LEASE, indexes: [] },
  locks: { fields: LEASE, indexes: [] },
} as const satisfies Readonly<Record<string, Schema>>;

export type Table = keyof typeof TABLES;
/** Tables whose documents count towards the share of an API key. */
export type SharedTable = 'jobs' | 'watches' | 'queries' | 'shared_links' | 'receivers';
/** Tables whose documents one process at a time may change. */
export type LeasedTable = 'jobs' | 'watches' | 'idempotency' | 'nodes' | 'locks';

type Typed<F> = { readonly [Name in keyof F]: F[Name] extends keyof Values ? Values[F[Name]] : never };
/** The fields of the documents of each table. */
export type Fields = { readonly [T in Table]: Typed<(typeof TABLES)[T]['fields']> };
type NameIn<T extends Table> = T extends Table ? Extract<keyof Fields[T], string> : never;
/** A field by which documents of a table are found. */
export type Field<T extends Table> = NameIn<T> | 'id' | 'revision';

export const SCHEMAS: Readonly<Record<Table, Schema>> = TABLES;

/** Returns the names of the fields of a table. */
export function fieldsOf(table: Table): readonly string[] {
  return Object.keys(TABLES[table].fields);
}

/** Returns the fields of a document, which may have others, too. */
export function fieldsIn(table: Table, document: object): Readonly<Record<string, string | number | null>> {
  return Object.fromEntries(fieldsOf(table).map((field) => [field, Reflect.get(document, field)]));
}
