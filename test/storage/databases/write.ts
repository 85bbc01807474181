/*
 * Writes the databases that the tests of the migrations open, with the code of an earlier commit:
 *
 *   git worktree add /tmp/earlier ab81c0f && ln -s "$PWD/node_modules" /tmp/earlier/node_modules
 *   MONGOMS_SYSTEM_BINARY=... node test/storage/databases/write.ts /tmp/earlier v0.1
 *
 * SQLite: the file, compressed. MongoDB: collections and indexes as Extended JSON, compressed.
 */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BSON, MongoClient } from 'mongodb';
import { startMongo } from '../../support/mongo.ts';

const [, , checkout = '.', name = 'v0.1'] = process.argv;
const storage = resolve(checkout, 'src/storage');

/** Ids and times of the fixture; tests expect these. */
const FIRST_ID = 300_000_000_000_000;

const result = (id: number, more: object = {}) => ({
  id,
  url: 'https://www.example.com/a?b=c',
  final_url: 'https://www.example.com/final',
  scheme: 'https',
  host: 'www.example.com',
  port: 443,
  title: 'Grüße',
  response_code: 200,
  response_reason: 'OK',
  content_type: 'text/html',
  content_length: 1234,
  probed_at: `2026-01-02T03:04:0${id - FIRST_ID}.678Z`,
  duration_ms: 512,
  screenshot: `/screenshot/${id}`,
  html: `/screenshot/${id}?view=html`,
  format: 'png',
  width: 1280,
  height: 800,
  truncated: false,
  full_height: 0,
  partial: false,
  partial_phase: '',
  timings: { load: 12 },
  protocol: 'h2',
  failed: false,
  failed_reason: '',
  failed_code: '',
  download: null,
  perception_hash: '0123456789abcdef',
  options_digest: 'd1',
  cached: false,
  remote_ip: '192.0.2.7',
  ip_info: null,
  ...more,
});

const EVIDENCE = {
  dialogs: { items: [], omitted: 0 },
  popups: { items: ['https://popup.example/'], omitted: 0 },
  cookies: { items: [], omitted: 0 },
};

const FAILED = {
  screenshot: '',
  html: '',
  failed: true,
  failed_code: 'target_unreachable',
  failed_reason: 'no answer',
  perception_hash: null,
};

/** `store`: the result store of version 0.1, which had jobs and idempotency keys too. */
// biome-ignore lint/suspicious/noExplicitAny: the code of another commit has types of its own
async function fill(store: any): Promise<void> {
  await store.insert(result(FIRST_ID), EVIDENCE);
  await store.insert(result(FIRST_ID + 1, FAILED), null);
  await store.insert(result(FIRST_ID + 2, { host: 'xn--bcher-kva.example', url: 'https://xn--bcher-kva.example/' }));
  const key = Buffer.alloc(32, 1);
  const attempt = { key, digest: Buffer.alloc(32, 2), owner: 'writer' };
  await store.idempotency.claim(attempt, { leaseMs: 1, lifeMs: 100 * 365 * 86_400_000 });
  await store.idempotency.keep(attempt, Buffer.from('the answer'));
  const work = Buffer.from('Authorization: Bearer secret-of-an-ended-job');
  await store.jobs.add({ id: 'ended', kind: 'batch', total: 1, work });
  await store.jobs.take('writer', 60_000);
  const body = JSON.stringify({
    url: 'https://www.example.com/',
    outcome: { state: 'stored', result: result(FIRST_ID) },
  });
  await store.jobs.put('ended', 'writer', [{ index: 0, failed: false, body }]);
  await store.jobs.finish('ended', 'writer', { state: 'completed' });
  await store.jobs.add({ id: 'waiting', kind: 'screenshot', total: 1, work: Buffer.from('what is to be done') });
}

// biome-ignore lint/suspicious/noExplicitAny: as above
async function fillLog(log: any): Promise<void> {
  await log.start(() => {});
  for (const body of ['{"n":1}', '{"n":2}'])
    log.append({ type: 'capture.queued', host: 'a.example', batch: null, body });
  await log.close();
}

const clock = () => Date.UTC(2026, 0, 2, 3, 4, 5);

async function writeSqlite(): Promise<void> {
  const { openSqliteStore } = await import(join(storage, 'sqlite/store.ts'));
  const { createOwnEventLog } = await import(join(storage, 'own-event-log.ts'));
  const path = join(mkdtempSync(join(tmpdir(), 'capstan-fixture-')), 'results.db');
  const store = await openSqliteStore({ path });
  await fill(store);
  await fillLog(createOwnEventLog({ table: store.events, clock, node: () => 3 }));
  await store.close();
  writeFileSync(join(import.meta.dirname, `${name}.db.gz`), gzipSync(readFileSync(path), { level: 9 }));
}

async function writeMongo(): Promise<void> {
  const { openMongoStore } = await import(join(storage, 'mongo/store.ts'));
  const { createMongoEventLog } = await import(join(storage, 'mongo/event-log.ts'));
  const server = await startMongo();
  const url = `${server.url}fixture`;
  const store = await openMongoStore({ url });
  await fill(store);
  await fillLog(createMongoEventLog({ database: store.database, clock, node: () => 3 }));
  await store.close();
  const client = await new MongoClient(url).connect();
  const db = client.db();
  const dump = [];
  for (const { name: collection, options } of await db.listCollections({}, { nameOnly: false }).toArray()) {
    const documents = await db.collection(collection).find().toArray();
    dump.push({ collection, options, indexes: await db.collection(collection).indexes(), documents });
  }
  await client.close();
  await server.remove();
  const text = BSON.EJSON.stringify(dump, { relaxed: false });
  writeFileSync(join(import.meta.dirname, `${name}.mongo.json.gz`), gzipSync(text, { level: 9 }));
}

await writeSqlite();
await writeMongo();
