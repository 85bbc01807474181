import { once } from 'node:events';
import { expect, it } from 'vitest';
import { indexWords } from '../../src/storage/maintenance/index-words.ts';
import { strayWords } from '../../src/storage/maintenance/stray-words.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { describeWithPlaces, startWriter, writeUntil } from './killed-writers.ts';

/** The first and the last words of each page. */
const WHOLE = '"word0 word1" word500 "word998 word999"';

describeWithPlaces('words of pages', (places) => {
  async function idsOf(results: ResultStore, words?: string): Promise<readonly number[]> {
    const found = await results.page({ by: 'all', where: words === undefined ? {} : { words } }, 1000);
    return found.map(({ id }) => id);
  }

  it('are whole for every stored capture, whenever the process that stores is killed', async () => {
    const answered: string[] = [];
    for (const [node, lines] of [1, 3, 8].entries())
      answered.push(...(await writeUntil(lines, 'store', places(), node)));
    const { results, captureStore, close } = await createStorage(places());
    try {
      await expect.poll(() => captureStore.pending).toBe(0);
      const stored = await idsOf(results);
      expect(stored).toEqual(expect.arrayContaining(answered.map(Number)));
      expect(await idsOf(results, WHOLE)).toEqual(stored);
    } finally {
      await close();
    }
  });

  it('are whole or missing when `capstan db index` is killed, and complete when it is run again', async () => {
    await writeUntil(40, 'store-without-words', places(), 5);
    const { results, captureStore, close } = await createStorage(places());
    try {
      await expect.poll(() => captureStore.pending).toBe(0);
      const child = startWriter('index', places());
      const exit = once(child, 'exit');
      await expect.poll(async () => (await results.indexed(1000, 0)).length, { interval: 1 }).toBeGreaterThan(2);
      child.kill('SIGKILL');
      await exit;
      const indexed = await results.indexed(1000, 0);
      expect((await idsOf(results, WHOLE)).toSorted()).toEqual(indexed.toSorted());
      await indexWords(places(), () => {});
      expect(await idsOf(results, WHOLE)).toEqual(await idsOf(results));
      expect(await strayWords(results)).toEqual([]);
    } finally {
      await close();
    }
  });
});
