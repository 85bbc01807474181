import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { backupFile, problemsOfFile } from '../../src/storage/sqlite/backup.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { resultOf } from './result-of.ts';

const ID = 300_000_000_000_000;

describe('backupFile', () => {
  it('ends while another connection commits all the time, with a whole database of one instant', async () => {
    const directory = await makeDirectory();
    const path = join(directory, 'results.db');
    const copy = join(directory, 'copy.db');
    const store = await openSqlite({ path });
    const many = Array.from({ length: 1500 }, (_, at) => resultOf(ID + at, { title: 'x'.repeat(4000) }));
    await Promise.all(many.map((result) => store.results.insert(result)));
    let isDone = false;
    let written = 0;
    const backup = backupFile(path, copy).finally(() => {
      isDone = true;
    });
    // Each result is a commit of the service's own connection.
    while (!isDone && written < 500) await store.results.insert(resultOf(ID + many.length + written++));
    expect(isDone).toBe(true);
    await backup;
    expect(problemsOfFile(copy)).toEqual([]);
    const db = new DatabaseSync(copy, { readOnly: true });
    const { records, newest } = db.prepare('SELECT count(*) AS records, max(id) AS newest FROM results').get() ?? {};
    db.close();
    expect(Number(records)).toBeGreaterThanOrEqual(many.length);
    expect(newest).toBe(ID + Number(records) - 1);
    expect(await store.results.get(ID + many.length + written - 1)).toBeDefined();
    await store.close();
  });

  it('ends when two are made under one name at once, with a whole database and nothing else', async () => {
    const directory = await makeDirectory();
    const path = join(directory, 'results.db');
    const copy = join(await makeDirectory(), 'copy.db');
    const store = await openSqlite({ path });
    await store.results.insert(resultOf(ID));
    await Promise.all([backupFile(path, copy), backupFile(path, copy)]);
    await store.close();
    expect(await readdir(dirname(copy))).toEqual(['copy.db']);
    expect(problemsOfFile(copy)).toEqual([]);
  });
});
