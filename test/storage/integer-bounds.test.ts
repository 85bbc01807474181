import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { lists } from '../../src/storage/sqlite/lists.ts';
import { openDatabase } from '../../src/storage/sqlite/schema.ts';
import { inTransaction } from '../../src/storage/sqlite/transaction.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { resultOf } from './result-of.ts';

/** A database that shows the statements with the values that were bound last. */
class OpenDatabase extends DatabaseSync {
  readonly statements: StatementSync[] = [];

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    this.statements.push(statement);
    return statement;
  }
}

describe('lists', () => {
  it('binds every number as an integer, because FTS5 reads all records above a bound that is a real', async () => {
    const path = `${await makeDirectory()}/results.db`;
    openDatabase(path).close();
    const db = new OpenDatabase(path);
    const { add, remove, page } = lists(db);
    const records = [1, 2, 3].map((id) => resultOf(id));
    inTransaction(db, () => {
      for (const record of records) add(record);
    });
    const after = { id: 3, probedAt: resultOf(3).probed_at };
    for (const filter of [{ by: 'all' }, { by: 'all', where: { status: '200' } }, { by: 'host', host: 'e' }] as const)
      page(filter, 2, after).next();
    remove(1, Date.parse(resultOf(1).probed_at));
    const bound = db.statements.map(({ expandedSQL }) => expandedSQL).join('\n');
    expect(bound).toMatch(/MATCH 'terms : \(.+\)' AND rowid < \d+ AND rowid >= -\d+/);
    expect(bound).not.toMatch(/\d\.0\b|\de\+/);
    db.close();
  });
});
