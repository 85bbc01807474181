import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { MIGRATIONS as MONGO_MIGRATIONS, migrate } from '../../src/storage/mongo/migrations.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { StoreState } from '../../src/storage/result-store.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { type MongoServer, startMongo, whyNoMongo } from '../support/mongo.ts';
import { restoreMongo, restoreSqlite } from './databases/restore.ts';
import { readAll } from './event-logs.ts';
import { EVIDENCE, resultOf } from './result-of.ts';
import { startSlowServer } from './slow-server.ts';

const FIRST_ID = 300_000_000_000_000;
const without = await whyNoMongo();
/** A busy machine may answer the first attempt to open a database too late. */
const WAIT = { timeout: 60_000 };
const SILENCE_MS = 1000;

/** Expects everything that the fixture's writer stored, and that new records can be stored. */
async function expectEverything(database: Database): Promise<void> {
  const { results, jobs, idempotency, nodes } = database;
  const artifacts = { store: null, kinds: ['image', 'html'] };
  expect(await results.get(FIRST_ID)).toMatchObject({
    id: FIRST_ID,
    title: 'Grüße',
    probed_at: '2026-01-02T03:04:00.678Z',
    artifacts,
    evidence: { popups: { items: ['https://popup.example/'], omitted: 0 } },
  });
  expect(await results.get(FIRST_ID)).not.toHaveProperty('screenshot');
  expect(await results.get(FIRST_ID + 1)).toMatchObject({ failed: true, artifacts: null, evidence: null });
  const ids = async (page: ReturnType<typeof results.page>) => (await page).map(({ id }) => id - FIRST_ID);
  expect(await ids(results.page({ by: 'all' }, 10))).toEqual([2, 1, 0]);
  expect(await ids(results.page({ by: 'url', url: 'https://www.example.com/a?b=c' }, 10))).toEqual([1, 0]);
  expect(await ids(results.page({ by: 'host', host: 'example.com' }, 10))).toEqual([1, 0]);
  expect(await ids(results.page({ by: 'host', host: 'büch' }, 10))).toEqual([2]);
  expect(await ids(results.page({ by: 'all', where: { outcome: 'failed' } }, 10))).toEqual([1]);
  expect(await ids(results.page({ by: 'all', where: { text: 'grüße', outcome: 'stored' } }, 10))).toContain(0);
  const similar = await results.similar({ hash: '0123456789abcdee', distance: 3, except: 0 }, 10);
  expect(similar.map(({ id, distance }) => [id - FIRST_ID, distance])).toEqual([
    [2, 1],
    [0, 1],
  ]);
  const claim = await idempotency.claim({ key: Buffer.alloc(32, 1), digest: Buffer.alloc(32, 2), owner: 'reader' });
  expect(claim).toMatchObject({ state: 'answered' });
  expect(await jobs.get('ended')).toMatchObject({ state: 'completed', done: 1, failed: 0 });
  expect(await jobs.results('ended', 10)).toMatchObject([{ index: 0, failed: false }]);
  const taken = await jobs.take('reader');
  expect(taken).toMatchObject({ id: 'waiting', kind: 'screenshot' });
  expect(Buffer.from(taken?.work ?? []).toString()).toBe('what is to be done');
  expect(await nodes.claim()).toBeDefined();
  const log = database.eventLog({ clock: Date.now, node: () => 1 });
  await log.start(() => {});
  const bodies = (await readAll(log, 0)).filter(({ type }) => type !== 'gap').map(({ body }) => body);
  expect(bodies).toEqual(['{"n":1}', '{"n":2}']);
  await log.close();
  await results.insert(resultOf(FIRST_ID + 9), EVIDENCE);
  expect(await results.get(FIRST_ID + 9)).toEqual({ ...resultOf(FIRST_ID + 9), evidence: EVIDENCE });
}

describe('SQLite migrations', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-migrations-'));
    path = join(directory, 'results.db');
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  const versionOf = () => {
    const db = new DatabaseSync(path);
    const version = db.prepare('PRAGMA user_version').get()?.user_version;
    db.close();
    return version;
  };

  it('opens a database that version 0.1 wrote, with everything in it', async () => {
    restoreSqlite('v0.1', path);
    expect(versionOf()).toBe(1);
    const database = await openSqlite({ path });
    await expectEverything(database);
    await database.close();
    expect(versionOf()).toBe(MIGRATIONS.length);
    const again = await openSqlite({ path });
    expect(await again.results.get(FIRST_ID)).toMatchObject({ title: 'Grüße' });
    await again.close();
  });

  it('opens a database for several processes at once', async () => {
    restoreSqlite('v0.1', path);
    const opened = await Promise.all([1, 2, 3].map(() => openSqlite({ path })));
    expect(opened.map(({ results }) => results.state)).toEqual(['up', 'up', 'up']);
    for (const database of opened) await database.close();
  });

  it('erases the requests of ended jobs', async () => {
    restoreSqlite('v0.1', path);
    expect((await readFile(path)).includes('secret-of-an-ended-job')).toBe(true);
    await (await openSqlite({ path })).close();
    expect((await readFile(path)).includes('secret-of-an-ended-job')).toBe(false);
  });

  it('leaves nothing behind when a migration fails', async () => {
    restoreSqlite('v0.1', path);
    const db = new DatabaseSync(path);
    db.exec('DROP TABLE jobs');
    db.exec('CREATE VIEW jobs AS SELECT 1 AS id');
    db.close();
    const database = await openSqlite({ path });
    expect(database.results.state).toBe('down');
    await database.close();
    expect(versionOf()).toBe(1);
  });

  it('indexes the hosts of records that were stored before hosts had terms', async () => {
    restoreSqlite('v0.1', path);
    const withoutHosts = MIGRATIONS.findIndex(({ name }) => name === 'terms of hosts');
    const db = new DatabaseSync(path);
    for (const { up } of MIGRATIONS.slice(1, withoutHosts)) up(db);
    db.exec(`PRAGMA user_version = ${withoutHosts}`);
    db.close();
    const database = await openSqlite({ path });
    for (const host of ['com', 'example.com']) {
      const found = await database.results.page({ by: 'host', host, where: { outcome: 'failed' } }, 10);
      expect(found.map(({ id }) => id - FIRST_ID)).toEqual([1]);
    }
    const found = await database.results.page({ by: 'host', host: 'büch', where: { outcome: 'stored' } }, 10);
    expect(found.map(({ id }) => id - FIRST_ID)).toEqual([2]);
    await database.close();
    expect(versionOf()).toBe(MIGRATIONS.length);
  });

  it('ends the start with one line that names both versions when the schema is newer', async () => {
    await (await openSqlite({ path })).close();
    const later = new DatabaseSync(path);
    later.exec('PRAGMA user_version = 900');
    later.close();
    await expect(openSqlite({ path })).rejects.toThrow(
      `${path}: the SQLite database has schema version 900, and this version of Capstan knows versions up to ${MIGRATIONS.length}: start the version that wrote it, or a later one`,
    );
    expect(versionOf()).toBe(900);
  });
});

describe.skipIf(without !== undefined)(`MongoDB migrations${without === undefined ? '' : ` (${without})`}`, () => {
  let server: MongoServer;
  let client: MongoClient;

  beforeAll(async () => {
    server = await startMongo();
    client = await new MongoClient(server.url).connect();
  }, 120_000);

  afterAll(async () => {
    await client?.close();
    await server?.remove();
  });

  it('opens a database that version 0.1 wrote, with everything in it', async () => {
    await restoreMongo('v0.1', client.db('earlier'));
    const database = await openMongo({ url: `${server.url}earlier` });
    await expect.poll(() => database.results.state, WAIT).toBe('up');
    await expectEverything(database);
    await database.close();
    const schema = await client.db('earlier').collection<{ _id: string }>('schema').find().toArray();
    expect(schema).toEqual([{ _id: 'schema', version: MONGO_MIGRATIONS.length }]);
    const ended = await client.db('earlier').collection<{ _id: string }>('jobs').findOne({ _id: 'ended' });
    expect(JSON.stringify(ended)).not.toContain('secret');
  }, 120_000);

  it('waits for an index that takes longer to build than the time limit of other commands', async () => {
    await using slow = await startSlowServer(server.url, 'createIndexes', 2 * SILENCE_MS);
    const told: string[] = [];
    const onState = (_: StoreState, reason: string) => told.push(reason);
    const database = await openMongo({ url: `${slow.url}slow`, silenceMs: SILENCE_MS, onState });
    expect(told).toEqual(['']);
    await database.close();
  });

  it('runs each migration in one process when several start at once', async () => {
    await migrate(client.db('at-once'));
    const schema = client.db('at-once').collection<{ _id: string; version: number }>('schema');
    await schema.updateOne({ _id: 'schema' }, { $set: { version: 0 } });
    const processes = await Promise.all(Array.from({ length: 5 }, () => observedClient(server.url)));
    await Promise.all(processes.map(({ database }) => migrate(database('at-once'))));
    expect(processes.filter(({ commands }) => commands.includes('createIndexes'))).toHaveLength(1);
    expect(await schema.findOne()).toEqual({ _id: 'schema', version: MONGO_MIGRATIONS.length });
    await Promise.all(processes.map(({ close }) => close()));
  });

  it('waits while another process migrates, and continues when that process has died', async () => {
    const schema = client.db('leased').collection<{ _id: string; version: number; migrating_until?: Date }>('schema');
    const inAnHour = new Date(Date.now() + 3_600_000);
    await schema.insertOne({ _id: 'schema', version: 0, migrating_until: inAnHour });
    const waiting = await observedClient(server.url);
    const migrated = migrate(waiting.database('leased'));
    const reads = () => waiting.commands.filter((name) => name === 'find').length;
    await expect.poll(reads).toBeGreaterThan(6);
    expect(waiting.commands).not.toContain('createIndexes');
    await schema.updateOne({ _id: 'schema' }, { $set: { migrating_until: new Date(0) } });
    await migrated;
    expect(await schema.findOne()).toEqual({ _id: 'schema', version: MONGO_MIGRATIONS.length });
    await waiting.close();
  });

  it('accepts that a migration is repeated', async () => {
    const db = client.db('repeated');
    await migrate(db);
    for (const { up } of MONGO_MIGRATIONS) await up(db);
    await migrate(db);
  });

  it('ends the start with one line that names both versions when the schema is newer', async () => {
    const url = `${server.url}newer`;
    await (await openMongo({ url })).close();
    const schema = client.db('newer').collection<{ _id: string; version: number }>('schema');
    await schema.updateOne({ _id: 'schema' }, { $set: { version: 900 } });
    await expect(openMongo({ url })).rejects.toThrow(
      `the MongoDB database "newer" has schema version 900, and this version of Capstan knows versions up to ${MONGO_MIGRATIONS.length}`,
    );
  });
});

/** Opens a separate connection, as each process has, and records the names of the commands that it sends. */
async function observedClient(url: string) {
  const commands: string[] = [];
  const client = new MongoClient(url, { monitorCommands: true });
  client.on('commandStarted', ({ commandName }) => commands.push(commandName));
  await client.connect();
  return { commands, database: (name: string) => client.db(name), close: () => client.close() };
}
