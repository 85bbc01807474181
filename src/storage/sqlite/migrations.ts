import type { DatabaseSync } from 'node:sqlite';
import { SCHEMAS } from '../ports/document-tables.ts';

/*
 * The schema, as ordered steps. `user_version` is the number of applied steps; opening a file applies the others in one
 * transaction. Never change a released step: append a new one.
 */

export interface Migration {
  readonly name: string;
  /** Runs inside a transaction. */
  readonly up: (db: DatabaseSync) => void;
}

export const MIGRATIONS: readonly Migration[] = [{ name: 'tables and indexes', up: (db) => db.exec(SCHEMA) }];

/** A host is stored once, with its keys in small indexes, by which lists find the hosts of a prefix. */
const RESULTS = `
  CREATE TABLE hosts (
    host_id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    reversed TEXT NOT NULL,
    unicode TEXT
  ) STRICT;
  CREATE UNIQUE INDEX hosts_by_host ON hosts (host);
  CREATE INDEX hosts_by_reversed ON hosts (reversed);
  CREATE INDEX hosts_by_unicode ON hosts (unicode) WHERE unicode IS NOT NULL;

  CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    probed_at INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;

`;

const EVENTS = `
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    host TEXT,
    batch TEXT,
    body TEXT NOT NULL,
    api_key_name TEXT,
    words TEXT,
    recipients TEXT,
    key TEXT
  ) STRICT;
  CREATE INDEX events_of_key ON events (api_key_name);
`;

/** Evidence is separate from the records, so that lists do not read it. */
const EVIDENCE = `
  CREATE TABLE evidence (
    id INTEGER PRIMARY KEY,
    evidence TEXT NOT NULL
  ) STRICT;
`;

/*
 * Bands lead to hashes, and hashes to captures: a page that is captured repeatedly without changing is one hash to
 * compare. Captures of keys without names have no entry in the index by key.
 */
const PERCEPTIONS = `
  CREATE TABLE perceptions (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    api_key_name TEXT
  ) STRICT;
  CREATE INDEX perceptions_by_hash ON perceptions (hash, id DESC);
  CREATE INDEX perceptions_of_key ON perceptions (api_key_name, hash, id DESC) WHERE api_key_name IS NOT NULL;

  CREATE TABLE perception_bands (
    band INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (band, hash)
  ) STRICT, WITHOUT ROWID;
`;

/** The table of terms holds no copy of the terms (`content=''`). Positions are for phrases of the page's words. */
const TERMS = `
  CREATE TABLE places (
    place INTEGER PRIMARY KEY,
    id INTEGER NOT NULL,
    host_id INTEGER NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE record_terms USING fts5 (
    words, terms, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  CREATE TABLE page_words (
    id INTEGER PRIMARY KEY,
    words TEXT NOT NULL
  ) STRICT;
`;

const COLUMNS = { text: 'TEXT NOT NULL', integer: 'INTEGER NOT NULL', 'integer or null': 'INTEGER' } as const;

const DOCUMENTS = Object.entries(SCHEMAS)
  .map(
    ([table, { fields, indexes }]) => `
  CREATE TABLE ${table} (
    id TEXT PRIMARY KEY,
    ${Object.entries(fields)
      .map(([field, type]) => `${field} ${COLUMNS[type]},`)
      .join('\n    ')}
    revision TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    dataBytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    data BLOB
  ) STRICT;
  ${indexes.map((index) => `CREATE INDEX ${table}_by_${index.join('_')} ON ${table} (${index.join()});`).join('\n  ')}
`,
  )
  .join('');

const SCHEMA = RESULTS + EVENTS + EVIDENCE + PERCEPTIONS + TERMS + DOCUMENTS;
