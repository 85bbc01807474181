import type { DatabaseSync } from 'node:sqlite';
import { asRecord, urlKeysOf } from '../records/record.ts';
import { hostTermsOf, termsOf } from '../records/terms.ts';
import { filteredLists } from './filtered-list.ts';

/*
 * The schema, as ordered steps. `user_version` is the number of applied steps; opening a file applies the others in one
 * transaction. Never change a released step: append a new one.
 */

export interface Migration {
  readonly name: string;
  /** Runs inside a transaction. */
  readonly up: (db: DatabaseSync) => void;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: 'results, their hosts, and node leases', up: (db) => db.exec(RESULTS) },
  {
    // Version 0.1 added these tables without a new version number, so some files have them and some do not.
    name: 'events, idempotency keys, jobs, evidence and perception hashes',
    up: (db) => db.exec(EVENTS + IDEMPOTENCY + JOBS + EVIDENCE + PERCEPTIONS),
  },
  {
    // The requests may contain credentials, and nothing needs them any more.
    name: 'no requests of ended jobs',
    up: (db) => db.exec(`UPDATE jobs SET work = x'' WHERE state NOT IN ('queued', 'running')`),
  },
  { name: 'results by normalised URL and by final URL', up: indexUrls },
  { name: 'terms of lists with conditions', up: (db) => db.exec(TERMS) },
  { name: 'terms of hosts', up: indexTerms },
  { name: 'API keys of perception hashes and of events', up: (db) => db.exec(API_KEYS) },
];

/*
 * A host is stored once, with its keys in small indexes; results refer to it by number. So by-host finds hosts by
 * ranges of prefixes, and each host's results are already in order.
 */
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
    host_id INTEGER NOT NULL,
    url_key BLOB NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX results_by_time ON results (probed_at DESC, id DESC, host_id);
  CREATE INDEX results_by_host ON results (host_id, probed_at DESC, id DESC);
  CREATE INDEX results_by_url ON results (url_key, probed_at DESC, id DESC);

  CREATE TABLE nodes (
    node INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    free_at INTEGER NOT NULL
  ) STRICT;
`;

const EVENTS = `
  CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    host TEXT,
    batch TEXT,
    body TEXT NOT NULL
  ) STRICT;
`;

const IDEMPOTENCY = `
  CREATE TABLE IF NOT EXISTS idempotency (
    key BLOB PRIMARY KEY,
    digest BLOB NOT NULL,
    owner TEXT NOT NULL,
    lease_until INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    answer BLOB
  ) STRICT;
  CREATE INDEX IF NOT EXISTS idempotency_by_expiry ON idempotency (expires_at);
`;

const JOBS = `
  CREATE TABLE IF NOT EXISTS jobs (
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
  CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, created_at);
  CREATE TABLE IF NOT EXISTS job_results (
    job TEXT NOT NULL,
    item INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (job, item)
  ) STRICT, WITHOUT ROWID;
`;

/** Evidence is separate from the records, so that lists do not read it. */
const EVIDENCE = `
  CREATE TABLE IF NOT EXISTS evidence (
    id INTEGER PRIMARY KEY,
    evidence TEXT NOT NULL
  ) STRICT;
`;

/*
 * Bands lead to hashes, and hashes to captures: a page that is captured repeatedly without changing is one hash to
 * compare.
 */
const PERCEPTIONS = `
  CREATE TABLE IF NOT EXISTS perceptions (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS perceptions_by_hash ON perceptions (hash, id DESC);

  CREATE TABLE IF NOT EXISTS perception_bands (
    band INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (band, hash)
  ) STRICT, WITHOUT ROWID;
`;

/** Records read at once while the keys of their URLs are computed again. */
const BATCH = 1000;

function indexUrls(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE results ADD COLUMN final_url_key BLOB;
    CREATE INDEX results_by_final_url ON results (final_url_key, probed_at DESC, id DESC)
      WHERE final_url_key IS NOT NULL;
  `);
  const read = db.prepare('SELECT id, record FROM results WHERE id > ? ORDER BY id LIMIT ?');
  const write = db.prepare('UPDATE results SET url_key = ?, final_url_key = ? WHERE id = ?');
  let last = -1;
  for (let rows = read.all(last, BATCH); rows.length > 0; rows = read.all(last, BATCH)) {
    for (const { id, record } of rows) {
      last = Number(id);
      const [key, finalKey = null] = urlKeysOf(asRecord(JSON.parse(String(record))));
      if (key !== undefined) write.run(key, finalKey, last);
    }
  }
}

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

/** Captures of keys without names have no entry in the index. */
const API_KEYS = `
  ALTER TABLE perceptions ADD COLUMN api_key_name TEXT;
  CREATE INDEX perceptions_of_key ON perceptions (api_key_name, hash, id DESC) WHERE api_key_name IS NOT NULL;
  ALTER TABLE events ADD COLUMN api_key_name TEXT;
`;

/** Indexes every record anew: terms cannot be added to those of a record. */
function indexTerms(db: DatabaseSync): void {
  db.exec("DELETE FROM places; INSERT INTO record_terms (record_terms) VALUES ('delete-all')");
  const lists = filteredLists(db);
  const read = db.prepare('SELECT id, probed_at, host_id, record FROM results WHERE id > ? ORDER BY id LIMIT ?');
  let last = -1;
  for (let rows = read.all(last, BATCH); rows.length > 0; rows = read.all(last, BATCH)) {
    for (const { id, probed_at, host_id, record } of rows) {
      last = Number(id);
      const result = asRecord(JSON.parse(String(record)));
      const place = { id: last, probedAt: Number(probed_at), hostId: Number(host_id) };
      const terms = [...termsOf(result), ...hostTermsOf(result.host)];
      lists.add(place, { terms, urlKeys: urlKeysOf(result) });
    }
  }
}
