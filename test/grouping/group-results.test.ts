import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { groupByLook } from '../../src/capture/finding/looks.ts';
import { type GroupedBy, groupResults, MAX_GROUPED } from '../../src/grouping/group-results.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { describeInEachDatabase } from '../storage/each-database.ts';
import { exampleId, exampleResult, NO_HOST_FACTS } from '../support/example-result.ts';

const HASHES = ['00000000000000ff', '00000000000000fe', 'ffffffff00000000', '000000000000007f'];

describeInEachDatabase((open) => {
  let database: Database;
  const ids = [0, 1, 2, 3].map(exampleId);

  beforeEach(async () => {
    database = await open();
    for (const [at, id] of ids.entries()) {
      const record = exampleResult(id, {
        title: at === 3 ? ' ' : at === 2 ? 'Other' : ' Same\n title',
        host: `${at % 2 === 0 ? 'even' : 'odd'}.example`,
        perception_hash: HASHES[at] ?? null,
      });
      await database.results.insert(record);
    }
  });

  afterEach(async () => {
    await database.results.delete(ids);
    await database.close();
  });

  const grouped = (by: GroupedBy, limit = 100) => groupResults(database.results, { by: 'all' }, by, limit);

  describe('grouping', () => {
    it('counts the results of each title, the largest group first, with its newest result', async () => {
      expect(await grouped('title')).toEqual({
        groups: [
          { value: 'Same title', count: 2, hosts: 2, example: ids[1] },
          { value: 'Other', count: 1, hosts: 1, example: ids[2] },
        ],
        omitted: 0,
        results: 4,
        without: 1,
        truncated: false,
      });
      expect(await grouped('title', 1)).toMatchObject({ groups: [{ value: 'Same title' }], omitted: 1 });
    });

    it('finds the results of each group of software, and no others, by its value', async () => {
      const versions = ['', '1.18', '1.18.0', '1.18.0.2.1', '1.18.0.2.1-RC', '1.18.0.2.1-rc', '0.1,2'];
      const made = versions.map((version, at) =>
        exampleResult(exampleId(10 + at), {
          host_facts: {
            ...NO_HOST_FACTS,
            technologies: [{ name: at === 2 ? 'NGINX' : 'nginx', version, sign: 'header' }],
          },
        }),
      );
      ids.push(...made.map(({ id }) => id));
      for (const record of made) await database.results.insert(record);
      const { groups } = await grouped('technology');
      expect(groups.map(({ count }) => count)).toEqual([2, 1, 1, 1, 1, 1]);
      for (const { value, count } of groups) {
        const found = await database.results.page({ by: 'all', where: { technology: value } }, 100);
        expect([value, found.length]).toEqual([value, count]);
      }
      const all = await database.results.page({ by: 'all', where: { technology: 'nginx' } }, 100);
      expect(all.length).toBe(versions.length);
    });

    it('puts pictures that look alike in one group', async () => {
      const { groups } = await grouped('perception');
      expect(groups.map(({ value, count }) => [value, count])).toEqual([
        ['000000000000007f', 3],
        ['ffffffff00000000', 1],
      ]);
    });
  });
});

describe('groups by look', () => {
  it('has no forms among empty pages, whose perception hashes have few bits', () => {
    const hashes = {
      'an empty page': '0000000000000000',
      'an empty page with noise': '0000000000000001',
      'an empty page with other noise': '8000000000000000',
      'a line of text': 'c000000000000000',
      'another line of text, of an error': 'c000800000000000',
      'an index of files': '8080000000000000',
      'a login form on white': '0000181c0c0c0000',
      'a name on black': '0008301008000000',
    };
    const captures = Object.entries(hashes).map(([name, hash]) => ({ name, perception_hash: hash }));
    expect(groupByLook(captures).map((group) => group.map(({ name }) => name))).toEqual([
      ['an empty page', 'an empty page with noise', 'an empty page with other noise'],
      ['a line of text', 'another line of text, of an error'],
      ['an index of files'],
      ['a login form on white'],
      ['a name on black'],
    ]);
  });
});

describe('grouping many results', () => {
  it('reads the newest alone, and says so', async () => {
    const all = Array.from({ length: MAX_GROUPED + 10 }, (_, at) =>
      exampleResult(exampleId(at), { title: `${at % 3}` }),
    );
    const newestFirst = all.toReversed();
    const store: Pick<ResultStore, 'page'> = {
      page: async (_filter, limit, after) => {
        const from = after === undefined ? 0 : newestFirst.findIndex(({ id }) => id === after.id) + 1;
        return newestFirst.slice(from, from + limit);
      },
    };
    const { results, truncated, groups } = await groupResults(store, { by: 'all' }, 'title', 2);
    expect([results, truncated, groups.length]).toEqual([MAX_GROUPED, true, 2]);
  });
});
