import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ComparisonSchema } from '../../src/capture/comparison/comparison.ts';
import { StabilitySchema } from '../../src/capture/comparison/stability.ts';
import { serviceForSuite } from '../support/for-suite.ts';

const Found = z.object({ data: StabilitySchema });
const Compared = z.object({ data: ComparisonSchema });

/** Levels and cells of two parts of the page, and characters of the tag names of the levels. */
const [FEW_LEVELS, FEW_CELLS, LEVELS, CELLS, CHARACTERS] = [8, 60, 480, 250, 95];

function deepPage(): string {
  const tag = `x-${'y'.repeat(CHARACTERS - 2)}`;
  const cells = (count: number) => '<div></div>'.repeat(count);
  const few = `${`<${tag}>`.repeat(FEW_LEVELS)}<p>${cells(FEW_CELLS)}</p>${`</${tag}>`.repeat(FEW_LEVELS)}`;
  return `<!doctype html><style>* { display: block } div { width: 20px; height: 20px; margin: 4px; float: left }</style>
<section>${few}</section>${`<${tag}>`.repeat(LEVELS)}<o:p>${cells(CELLS)}</o:p>
<script>for (const cell of document.querySelectorAll("div")) cell.style.background = 'hsl(' + 360 * Math.random() + ' 90% 50%)';</script>`;
}

describe('POST /captures/stability', () => {
  const app = serviceForSuite({ maxConcurrent: 4 });

  it('names elements of a deep page by selectors that watches take, in an answer of bounded size, and captures at most two pages at once', async () => {
    const html = deepPage();
    const atOnce: number[] = [];
    const batches = app.service.events$.subscribe((event) => {
      if (event.type === 'batch.accepted') atOnce.push(event.concurrency);
    });
    const checked = await app.post('/captures/stability', { html });
    const text = await checked.text();
    batches.unsubscribe();
    expect(atOnce).toEqual([2]);
    expect(text.length).toBeLessThan(300_000);
    const { data } = Found.parse(JSON.parse(text));
    expect(data).toMatchObject({ stable: false, truncated: true });
    const all = data.unstable.map(({ selector }) => selector);
    expect(new Set(data.unstable.map(({ cause }) => cause))).toEqual(new Set(['randomness']));
    expect(Math.max(...all.map(({ length }) => length))).toBeLessThanOrEqual(1000);
    expect(all).toHaveLength(200);
    expect(all).toContain('div:nth-of-type(100)');
    expect(data.ignore.length).toBeGreaterThan(5);
    const watch = await app.post('/watches', { url: 'https://example.com/', every: '1d', ignore: data.ignore });
    expect([watch.status, await watch.text()]).toEqual([201, expect.any(String)]);

    const [a = 0, b = 0] = data.captures
      .filter(({ varied }) => /nothing|random/.test(varied))
      .map(({ id }) => id)
      .slice(1);
    const compared = await (await app.call(`/compare?a=${a}&b=${b}`)).text();
    expect(compared.length).toBeLessThan(1_000_000);
    const { elements } = Compared.parse(JSON.parse(compared)).data;
    expect(elements?.changes).toHaveLength(200);
    for (const { selector } of elements?.changes ?? []) expect(selector.length).toBeLessThanOrEqual(1000);
  });
});
