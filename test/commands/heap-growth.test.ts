import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const HEAP_GROWTH = join(import.meta.dirname, '../../src/commands/serve/heap-growth.ts');

/** Holds some objects for good and others for a while, then prints how many full collections that took. */
const WORK = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  let full = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) full += 1;
  }).observe({ entryTypes: ['gc'] });
  const held = Array.from({ length: 200_000 }, (_, index) => ({ index }));
  const recent = [];
  for (let count = 0; count < 400; count += 1) {
    recent.push(Array.from({ length: 10_000 }, () => ({ count })));
    if (recent.length > 20) recent.shift();
    if (count % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(held.length === 200_000 ? full : 'lost');`;

/** Runs Node in the mode in which V8 grows the heap least: it is in that mode also after it was idle for a while. */
async function fullCollections(script: string): Promise<number> {
  const args = ['--optimize-for-size', '--input-type=module', '-e', script];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

it('reduces full garbage collections to less than half with makeFullCollectionsRare', async () => {
  const prepare = `import { makeFullCollectionsRare } from ${JSON.stringify(HEAP_GROWTH)}; makeFullCollectionsRare();`;
  const [usual, rare] = [await fullCollections(WORK), await fullCollections(prepare + WORK)];
  expect(usual).toBeGreaterThan(0);
  expect(rare).toBeLessThan(usual / 2);
});
