import { expect, it } from 'vitest';
import { STORED_LIMITS } from '../../src/capture/stored-limits.ts';
import { withCaptures } from '../../src/scans/outcomes-with-captures.ts';
import { packOutcome } from '../../src/scans/stored-outcome.ts';
import { exampleId, exampleResult } from '../support/example-result.ts';

/** The outcomes of a scan, whose captures have options of a size, and the store, which counts what it is asked for. */
function scanOf(count: number, characters: number) {
  const asked: number[] = [];
  const results = Array.from({ length: count }, (_, at) =>
    exampleResult(exampleId(at), { options: { css: 'x'.repeat(characters) } }),
  );
  const known = new Map(results.map((result) => [result.id, result]));
  const items = results.map((result, index) =>
    packOutcome({ index, url: result.url, outcome: { state: 'stored', result, evidence: null } }),
  );
  const records = (ids: readonly number[]) => {
    asked.push(ids.length);
    return Promise.resolve(new Map(ids.flatMap((id) => known.get(id) ?? []).map((result) => [result.id, result])));
  };
  return { asked, results, items, records };
}

it('reads the captures of a page of outcomes at most 50 at a time', async () => {
  const { asked, results, items, records } = scanOf(120, 10);
  const page = await withCaptures({ items, isCut: false }, { records });
  expect(asked).toEqual([50, 50, 20]);
  expect(page.isCut).toBe(false);
  expect(page.items).toMatchObject(results.map((result, index) => ({ index, outcome: { state: 'stored', result } })));
});

it('ends a page of outcomes when their captures are large', async () => {
  const { asked, items, records } = scanOf(120, 100_000);
  const page = await withCaptures({ items, isCut: false }, { records });
  expect(page.isCut).toBe(true);
  expect(page.items.length).toBe(Math.ceil(STORED_LIMITS.page.bytes / JSON.stringify(page.items[0]).length));
  expect(asked).toEqual([50]);
});
