import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../src/storage/documents/lock.ts';
import { mongoDocuments } from '../../src/storage/mongo/document-store.ts';
import {
  MIGRATIONS as MONGO_MIGRATIONS,
  type Migration as MongoMigration,
  migrate,
} from '../../src/storage/mongo/migrations.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { StoreState } from '../../src/storage/ports/result-store.ts';
import { MIGRATIONS, type Migration } from '../../src/storage/sqlite/migrations.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { openDatabase } from '../../src/storage/sqlite/schema.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { EVIDENCE, resultOf } from './result-of.ts';
import { startLosingServer, startSlowServer } from './slow-server.ts';

const ID = 300_000_000_000_000;
const SILENCE_MS = 1000;

/** A made-up step: what a later version may add. */
const NEXT: Migration = {
  name: 'notes',
  up: (db) => db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY) STRICT; INSERT INTO notes SELECT id FROM results'),
};

const MONGO_NEXT: MongoMigration = {
  name: 'notes',
  up: async (db) => {
    await db.collection('results').updateMany({}, { $set: { note: 'made up' } });
  },
};

describe('SQLite migrations', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await makeDirectory();
    path = join(directory, 'results.db');
  });

  const versionOf = () => {
    const db = new DatabaseSync(path);
    const version = db.prepare('PRAGMA user_version').get()?.user_version;
    db.close();
    return version;
  };

  it('applies a new step once, to a file with everything in it', async () => {
    const database = await openSqlite({ path });
    await database.results.insert({ ...resultOf(ID), evidence: EVIDENCE });
    await database.close();
    expect(versionOf()).toBe(1);
    openDatabase(path, [...MIGRATIONS, NEXT]).close();
    const db = openDatabase(path, [...MIGRATIONS, NEXT]);
    expect(db.prepare('SELECT id FROM notes').all()).toEqual([{ id: ID }]);
    db.close();
    expect(versionOf()).toBe(2);
    await expect(openSqlite({ path })).rejects.toThrow('schema version 2');
  });

  it('creates a database for several processes at once', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => openSqlite({ path })));
    expect(opened.map(({ results }) => results.state)).toEqual(['up', 'up', 'up']);
    for (const database of opened) await database.close();
  });

  it('leaves nothing behind when a step fails', async () => {
    await (await openSqlite({ path })).close();
    const broken = {
      name: 'broken',
      up: (db: DatabaseSync) => db.exec('CREATE TABLE more (id); CREATE TABLE jobs (id)'),
    };
    expect(() => openDatabase(path, [...MIGRATIONS, NEXT, broken])).toThrow('already exists');
    expect(versionOf()).toBe(1);
    const db = openDatabase(path);
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name IN ('notes', 'more')").all()).toEqual([]);
    db.close();
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

describeWithSharedMongo('MongoDB migrations', (server) => {
  const named = (name: string) => `${new URL(server()).pathname.slice(1)}${name}`;
  let client: MongoClient;

  beforeAll(async () => {
    client = await new MongoClient(server()).connect();
  });

  afterAll(() => client?.close());

  it('applies a new step once, to a database with everything in it', async () => {
    const db = client.db(named('next'));
    await migrate(db);
    await db.collection<{ _id: number; note?: string }>('results').insertOne({ _id: ID });
    const schema = db.collection<{ _id: string; version: number }>('schema');
    expect(await schema.findOne()).toEqual({ _id: 'schema', version: 1 });
    await migrate(db, undefined, [...MONGO_MIGRATIONS, MONGO_NEXT]);
    expect(await db.collection('results').findOne()).toEqual({ _id: ID, note: 'made up' });
    expect(await schema.findOne()).toEqual({ _id: 'schema', version: 2 });
    await db.collection('results').updateMany({}, { $set: { note: 'kept' } });
    await migrate(db, undefined, [...MONGO_MIGRATIONS, MONGO_NEXT]);
    expect(await db.collection('results').findOne()).toEqual({ _id: ID, note: 'kept' });
    await expect(migrate(db)).rejects.toThrow('schema version 2');
  });

  it('waits for an index that takes longer to build than the time limit of other commands', async () => {
    await using slow = await startSlowServer(server(), 'createIndexes', 2 * SILENCE_MS);
    const told: string[] = [];
    const onState = (_: StoreState, reason: string) => told.push(reason);
    const database = await openMongo({ url: `${slow.url}${named('slow')}?timeoutMS=${SILENCE_MS}`, onState });
    expect(told).toEqual(['']);
    await database.close();
  });

  it('repeats a migration after the server was gone while it built an index', async () => {
    await using proxy = await startLosingServer(server(), 'createIndexes');
    const told: string[] = [];
    const onState = (state: StoreState) => told.push(state);
    const database = await openMongo({ url: `${proxy.url}${named('lost')}?timeoutMS=${SILENCE_MS}`, onState });
    await proxy.restart();
    // The lock may not have been released.
    const locks = client.db(named('lost')).collection<{ _id: string; freeAt: number }>('locks');
    await locks.updateOne({ _id: 'migration' }, { $set: { freeAt: 0 } });
    await expect.poll(() => database.results.state).toBe('up');
    expect(told).toEqual(['down', 'up']);
    await database.close();
  });

  it('runs each migration in one process when several start at once', async () => {
    await migrate(client.db(named('at-once')));
    const schema = client.db(named('at-once')).collection<{ _id: string; version: number }>('schema');
    await schema.updateOne({ _id: 'schema' }, { $set: { version: 0 } });
    const processes = await Promise.all(Array.from({ length: 5 }, () => observedClient(server())));
    await Promise.all(processes.map(({ database }) => migrate(database(named('at-once')))));
    expect(processes.filter(({ commands }) => commands.includes('createIndexes'))).toHaveLength(1);
    expect(await schema.findOne()).toEqual({ _id: 'schema', version: MONGO_MIGRATIONS.length });
    await Promise.all(processes.map(({ close }) => close()));
  });

  it('waits while another process migrates, and continues when that process has died', async () => {
    const locks = client.db(named('leased')).collection<{ _id: string; freeAt: number }>('locks');
    const other = await takeLock(
      mongoDocuments(client.db(named('leased')), (work) => work()),
      'migration',
    );
    const waiting = await observedClient(server());
    const migrated = migrate(waiting.database(named('leased')));
    const reads = () => waiting.commands.filter((name) => name === 'find').length;
    await expect.poll(reads).toBeGreaterThan(6);
    expect(waiting.commands).not.toContain('createIndexes');
    await locks.updateOne({ _id: 'migration' }, { $set: { freeAt: 0 } });
    await migrated;
    await other?.release();
    expect(await client.db(named('leased')).collection('schema').findOne()).toEqual({
      _id: 'schema',
      version: MONGO_MIGRATIONS.length,
    });
    await waiting.close();
  });

  it('accepts that a migration is repeated', async () => {
    const db = client.db(named('repeated'));
    await migrate(db);
    for (const { up } of MONGO_MIGRATIONS) await up(db);
    await migrate(db);
  });

  it('ends the start with one line that names both versions when the schema is newer', async () => {
    const url = `${server()}newer`;
    await (await openMongo({ url })).close();
    const schema = client.db(named('newer')).collection<{ _id: string; version: number }>('schema');
    await schema.updateOne({ _id: 'schema' }, { $set: { version: 900 } });
    await expect(openMongo({ url })).rejects.toThrow(
      `the MongoDB database "${named('newer')}" has schema version 900, and this version of Capstan knows versions up to ${MONGO_MIGRATIONS.length}`,
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
