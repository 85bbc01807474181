import type { DatabaseSync } from 'node:sqlite';
import { LEASED_NODES } from '../records/ids.ts';

/*
 * The schema, as ordered steps. `user_version` is the number of applied steps; opening a file applies the others in one
 * transaction. Never change a released step: append a new one.
 */

export interface Migration {
  readonly name: string;
  /** Runs inside a transaction. */
  readonly up: (db: DatabaseSync) => void;
}

export const MIGRATIONS: readonly Migration[] = [{ name: 'tables and indexes', up: (db) => db.exec(TABLES) }];

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
    url_key BLOB NOT NULL,
    final_url_key BLOB,
    record TEXT NOT NULL
  ) STRICT;

  CREATE TABLE nodes (
    node INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    free_at INTEGER NOT NULL
  ) STRICT;
  WITH RECURSIVE leased (node) AS (SELECT 0 UNION ALL SELECT node + 1 FROM leased WHERE node + 1 < ${LEASED_NODES})
    INSERT INTO nodes (node, owner, free_at) SELECT node, '', 0 FROM leased;
`;

const EVENTS = `
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    host TEXT,
    batch TEXT,
    body TEXT NOT NULL,
    api_key_name TEXT
  ) STRICT;
  CREATE INDEX events_of_key ON events (api_key_name);
`;

const IDEMPOTENCY = `
  CREATE TABLE idempotency (
    key BLOB PRIMARY KEY,
    digest BLOB NOT NULL,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    answer BLOB
  ) STRICT;
  CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
`;

const JOBS = `
  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    total INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    code TEXT,
    reason TEXT,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    work BLOB NOT NULL
  ) STRICT;
  CREATE INDEX jobs_by_state ON jobs (state, created_at);
  CREATE TABLE job_results (
    job TEXT NOT NULL,
    item INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, item)
  ) STRICT, WITHOUT ROWID;
`;

const QUERIES = `
  CREATE TABLE queries (
    id TEXT PRIMARY KEY,
    api_key_name TEXT,
    filter TEXT NOT NULL,
    position INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    acknowledged_at INTEGER
  ) STRICT;
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

/** The table of terms holds no copy of the terms (`content=''`), and no positions: words may match in any order. */
const TERMS = `
  CREATE TABLE places (
    place INTEGER PRIMARY KEY,
    id INTEGER NOT NULL,
    host_id INTEGER NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE record_terms USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  );
`;

const WATCHES = `
  CREATE TABLE watches (
    id INTEGER PRIMARY KEY,
    api_key_name TEXT NOT NULL,
    host TEXT NOT NULL,
    every_ms INTEGER,
    due_at INTEGER,
    owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    definition TEXT NOT NULL,
    progress TEXT NOT NULL
  ) STRICT;
  CREATE INDEX watches_by_due ON watches (due_at, lease_until) WHERE due_at IS NOT NULL;
  CREATE INDEX watches_of_key ON watches (api_key_name, id);
  CREATE TABLE watch_labels (
    watch INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (watch, label)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX watches_by_label ON watch_labels (label, watch);
  CREATE TABLE watch_runs (
    watch INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (watch, due_at)
  ) STRICT, WITHOUT ROWID;
`;

const TABLES = RESULTS + EVENTS + QUERIES + IDEMPOTENCY + JOBS + EVIDENCE + PERCEPTIONS + TERMS + WATCHES;
