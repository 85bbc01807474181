import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeasedNode } from '../../src/storage/documents/nodes.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { DocumentStore } from '../../src/storage/ports/document-store.ts';
import type { StoreState } from '../../src/storage/ports/result-store.ts';
import { documentTable } from '../../src/storage/sqlite/document-table.ts';
import { LIST_STATEMENTS } from '../../src/storage/sqlite/lists.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { PERCEPTION_STATEMENTS, perceptions } from '../../src/storage/sqlite/perceptions.ts';
import { RESULT_STATEMENTS, resultTable } from '../../src/storage/sqlite/result-table.ts';
import { openDatabase } from '../../src/storage/sqlite/schema.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { captureOf, resultOf } from './result-of.ts';
import { describeResultStore } from './result-store.contract.ts';

const ID = 300_000_000_000_000;
const WORKER = new URL('../../src/storage/sqlite/worker.ts', import.meta.url).href;
/** Runs the thread of a database file, and fails when it loads a package. */
const WITHOUT_PACKAGES = `require('node:module').registerHooks({
  load: (url, context, next) => {
    if (url.includes('/node_modules/')) throw new Error('the thread loads ' + url);
    return next(url, context);
  },
});
import(${JSON.stringify(WORKER)});`;

describe('the SQLite store', () => {
  describeResultStore(async () => {
    const directory = await makeDirectory();
    return {
      open: () => openSqlite({ path: join(directory, 'deep', 'er', 'results.db') }),
      remove: () => rm(directory, { recursive: true, force: true }),
    };
  });

  describe('the file', () => {
    let directory: string;
    let path: string;
    let store: Database | undefined;
    const onState = vi.fn<(state: StoreState, reason: string) => void>();

    beforeEach(async () => {
      directory = await makeDirectory();
      path = join(directory, 'results.db');
      onState.mockReset();
    });

    afterEach(async () => {
      await store?.close();
      store = undefined;
    });

    const moveAway = async (suffix: string) => {
      const db = new DatabaseSync(path);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      await rename(path, path + suffix);
    };

    it('is opened by a thread that loads no package, because each start of a service waits for it', async () => {
      const thread = new Worker(WITHOUT_PACKAGES, { eval: true, workerData: { path, keptEvents: 1 } });
      try {
        const [message] = await once(thread, 'message');
        expect(message).toEqual({ type: 'state', state: 'up', reason: '' });
      } finally {
        await thread.terminate();
      }
    });

    it('reports down while its file cannot be opened, with the reason, and recovers afterwards', async () => {
      const inTheWay = join(directory, 'way');
      await writeFile(inTheWay, 'not a directory');
      store = await openSqlite({ path: join(inTheWay, 'results.db'), onState });
      expect(store.results.state).toBe('down');
      await expect(store.results.get(ID)).rejects.toMatchObject({
        code: 'database_unavailable',
        message: 'The database cannot be used: its file or directory cannot be used (ENOTDIR).',
      });
      expect(await store.nodes.claim()).toBeUndefined();
      expect(onState.mock.calls).toEqual([
        ['down', `${join(inTheWay, 'results.db')} cannot be used: its file or directory cannot be used (ENOTDIR)`],
      ]);

      await rm(inTheWay);
      await expect.poll(() => onState).toHaveBeenLastCalledWith('up', '');
      await store.results.insert(resultOf(ID));
      expect(await store.results.get(ID)).toMatchObject(resultOf(ID));
    });

    it('reports down where its directory cannot be created', async () => {
      store = await openSqlite({ path: '/proc/no/results.db' });
      await expect(store.results.page({ by: 'all' }, 1)).rejects.toMatchObject({
        message: 'The database cannot be used: its file or directory cannot be used (ENOENT).',
      });
    });

    it('does not touch the database of another application', async () => {
      const other = new DatabaseSync(path);
      other.exec('CREATE TABLE theirs (a)');
      other.close();
      store = await openSqlite({ path });
      await expect(store.results.get(ID)).rejects.toThrow('it is a SQLite database of another application');
    });

    it('does not touch a file that is not a database', async () => {
      await writeFile(path, 'something that somebody wrote down'.repeat(100));
      store = await openSqlite({ path });
      await expect(store.results.get(ID)).rejects.toThrow('file is not a database');
    });

    it('refuses records while another process holds the lock, and can still be read', async () => {
      store = await openSqlite({ path, onState });
      await store.results.insert(resultOf(ID));
      const other = new DatabaseSync(path);
      other.exec('BEGIN IMMEDIATE');
      try {
        await expect(store.results.insert(resultOf(ID + 1))).rejects.toMatchObject({
          code: 'database_unavailable',
          message: 'The database cannot be used: another process holds its lock.',
        });
        expect(store.results.state).toBe('down');
        expect(await store.results.get(ID)).toMatchObject(resultOf(ID));
      } finally {
        other.exec('ROLLBACK');
        other.close();
      }
      await store.results.insert(resultOf(ID + 1));
      expect(store.results.state).toBe('up');
    });

    it('reports once that its open file was removed, and uses the file again when it is back', async () => {
      store = await openSqlite({ path, onState });
      await store.results.insert(resultOf(ID));
      await moveAway('.kept');
      for (let at = 1; at < 4; at += 1) {
        await expect(store.results.insert(resultOf(ID + at))).rejects.toThrow('its file is gone');
      }
      expect(await readdir(directory)).not.toContain('results.db');
      expect(onState.mock.calls.map(([state]) => state)).toEqual(['up', 'damaged']);
      await rename(`${path}.kept`, path);
      await expect.poll(() => onState).toHaveBeenLastCalledWith('up', '');
      expect(await store.results.get(ID)).toMatchObject(resultOf(ID));
    });

    it('reads the backup that replaced the open file, and keeps aside what was not in it', async () => {
      store = await openSqlite({ path, onState });
      await store.results.insert(resultOf(ID));
      const reading = new DatabaseSync(path);
      const backup = join(directory, 'backup.db');
      reading.prepare('VACUUM INTO ?').run(backup);
      reading.close();
      const more = Array.from({ length: 200 }, (_, at) => resultOf(ID + 1 + at, { title: 'x'.repeat(2000) }));
      await Promise.all(more.map((result) => store?.results.insert(result)));
      await rename(backup, path);
      expect(await store.results.page({ by: 'all' }, 10)).toEqual([resultOf(ID)]);
      await store.results.insert(resultOf(ID + 1));
      expect(onState.mock.calls.map(([state]) => state)).toEqual(['up']);
      await store.close();
      const check = new DatabaseSync(path);
      expect(check.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      check.close();
    });

    it('reports a corrupt file once, with the repair commands, and uses the file that replaces it', async () => {
      store = await openSqlite({ path });
      const many = Array.from({ length: 300 }, (_, at) => resultOf(ID + at, { title: 'x'.repeat(3000) }));
      await Promise.all(many.map((result) => store?.results.insert(result)));
      await store.close();
      const whole = await readFile(path);
      await writeFile(path, whole.fill(0x5a, 4096 * 100));
      store = await openSqlite({ path, onState });
      for (let at = 0; at < 50; at += 1) await store.results.get(ID + at * 6).catch(() => undefined);
      await expect(store.results.get(ID)).rejects.toMatchObject({ code: 'database_unavailable' });
      expect(onState.mock.calls).toEqual([
        ['up', ''],
        [
          'damaged',
          expect.stringContaining('run `capstan db check`, then `capstan db restore` or `capstan db rebuild`'),
        ],
      ]);
      expect(store.results.state).toBe('damaged');
      const other = join(directory, 'other.db');
      await (await openSqlite({ path: other })).close();
      await rename(other, path);
      await expect.poll(() => store?.results.state).toBe('up');
    });

    it('holds no requests of ended jobs, which may contain credentials', async () => {
      store = await openSqlite({ path });
      const work = Buffer.from('Authorization: Bearer');
      for (const id of ['finished', 'cancelled']) {
        await store.jobs.add({ id, kind: 'screenshot', total: 1, keysShare: false, work });
        await store.jobs.take('me');
      }
      await store.jobs.finish('finished', 'me', { state: 'completed' });
      await store.jobs.cancel('cancelled');
      await store.close();
      const db = new DatabaseSync(path);
      expect(db.prepare('SELECT DISTINCT length(data) AS bytes FROM jobs').all()).toEqual([{ bytes: 0 }]);
      db.close();
    });

    it('reports down when its path is a directory', async () => {
      await mkdir(path);
      store = await openSqlite({ path });
      expect(store.results.state).toBe('down');
    });

    describe('with many visually similar captures', () => {
      const search = { hash: '0000000000000000', distance: 15, except: 0 };

      beforeEach(() => {
        const db = openDatabase(path);
        const hashes = perceptions(db);
        // Hashes with few bits set, all in one corner: most share a band.
        db.exec('BEGIN');
        for (let at = 0; at < 8_000; at += 1) hashes.add(ID + at, at.toString(16).padStart(16, '0'), null);
        db.exec('COMMIT');
        db.close();
      });

      it('completes other calls while a search is running', async () => {
        store = await openSqlite({ path });
        const ended: string[] = [];
        const searched = store.results.similar(search, 10).then(() => ended.push('the search'));
        await store.results.insert(resultOf(ID - 1)).then(() => ended.push('the insert'));
        await searched;
        expect(ended).toEqual(['the insert', 'the search']);
      });

      it('searches the new file when the file is replaced during a search, and stays up', async () => {
        const other = join(directory, 'other.db');
        openDatabase(other).close();
        store = await openSqlite({ path });
        const searched = store.results.similar(search, 10);
        await store.results.insert(resultOf(ID - 1));
        renameSync(other, path);
        await store.results.insert(resultOf(ID - 2));
        expect(await searched).toEqual([]);
        expect(store.results.state).toBe('up');
      });

      it('ends a running search when it is closed', async () => {
        store = await openSqlite({ path });
        const searched = expect(store.results.similar(search, 10)).rejects.toMatchObject({
          code: 'database_unavailable',
        });
        await store.close();
        await searched;
      });
    });

    it('does not block the event loop', async () => {
      store = await openSqlite({ path });
      const turned = new Promise<string>((resolve) => setImmediate(() => resolve('the loop turned')));
      const answered = store.results.insert(resultOf(ID)).then(() => 'the store answered');
      expect(await Promise.race([turned, answered])).toBe('the loop turned');
      await answered;
    });
  });

  describe('the statements', () => {
    it('reads indexes and never a whole table', () => {
      const db = openDatabase(':memory:');
      for (const sql of [...RESULT_STATEMENTS, ...LIST_STATEMENTS, ...PERCEPTION_STATEMENTS]) {
        const plan = db
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...sql.matchAll(/\?/g).map(() => 0))
          .map((row) => String(row.detail));
        const scans = plan.filter((line) => /^SCAN (results|hosts|places|perception)/.test(line));
        expect(scans, sql).toEqual([]);
        expect(plan.join('\n')).not.toContain('TEMP B-TREE');
      }
      db.close();
    });
  });

  describe('the hosts', () => {
    const row = (id: number, host: string) => captureOf(id, { host, perception_hash: '0123456789abcdef' });

    const rowsOf = (db: DatabaseSync) =>
      Object.fromEntries(
        ['evidence', 'perceptions', 'perception_bands', 'places', 'record_terms'].map((table) => [
          table,
          db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows,
        ]),
      );

    it('removes hosts and hashes with their last result, not before', () => {
      const db = openDatabase(':memory:');
      const results = resultTable(db);
      const hosts = () =>
        db
          .prepare('SELECT host FROM hosts ORDER BY host')
          .all()
          .map(({ host }) => host);
      results.insert([row(1, 'a.example'), row(2, 'a.example'), row(3, 'b.example'), row(4, 'c.example')]);
      results.delete([1, 3]);
      expect(hosts()).toEqual(['a.example', 'c.example']);
      expect(rowsOf(db)).toEqual({ evidence: 2, perceptions: 2, perception_bands: 4, places: 2, record_terms: 2 });
      results.delete([2, 3, 4]);
      expect(hosts()).toEqual([]);
      expect(rowsOf(db)).toEqual({ evidence: 0, perceptions: 0, perception_bands: 0, places: 0, record_terms: 0 });
      results.insert([row(5, 'b.example')]);
      expect(hosts()).toEqual(['b.example']);
      db.close();
    });

    it('reads records of many hosts with a long prefix in common only until a page is full', () => {
      const db = openDatabase(':memory:');
      const results = resultTable(db);
      const ids = Array.from({ length: 600 }, (_, at) => at + 1);
      const timeOf = (id: number) => new Date(1_600_000_000_000 + id * 16).toISOString();
      results.insert(ids.map((id) => captureOf(id, { host: `numbered-host${id}.example`, probed_at: timeOf(id) })));
      // Reading one of these records would throw.
      db.exec("UPDATE results SET record = 'damaged' WHERE id < 590");
      const reading = results.page({ by: 'host', host: 'numbered-host' }, 10);
      let step = reading.next();
      while (!step.done) step = reading.next();
      expect(step.value.map(({ id }) => id)).toEqual(ids.slice(-10).reverse());
      db.close();
    });
  });

  describe('the leases', () => {
    const MINUTE = 60_000;

    it('leases 32 nodes and no more until a lease has been expired for the margin', async () => {
      const db = openDatabase(':memory:');
      let now = 0;
      const table = documentTable(db);
      const documents: DocumentStore = new Proxy(Object.create(null), {
        get:
          (_, method) =>
          async (...asked: unknown[]) =>
            method === 'now' ? now : Reflect.apply(Reflect.get(table, method), undefined, asked),
      });
      const owners = Array.from({ length: 33 }, () => new LeasedNode(documents));
      const claimed: (number | undefined)[] = [];
      for (const owner of owners) claimed.push(await owner.claim());
      expect(claimed).toEqual([...Array(32).keys(), undefined]);
      now = 2 * MINUTE;
      const [late, later] = [new LeasedNode(documents), new LeasedNode(documents)];
      expect(await late.claim()).toBeUndefined();
      for (const [at, owner] of owners.slice(0, 32).entries()) if (at !== 7) await owner.claim();
      now = 3 * MINUTE;
      expect(await late.claim()).toBe(7);
      expect(await later.claim()).toBeUndefined();
      await late.release();
      now = 3 * MINUTE + 2000;
      expect(await later.claim()).toBe(7);
      db.close();
    });
  });
});
