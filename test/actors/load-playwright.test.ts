import { createRequire, syncBuiltinESMExports } from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import vm from 'node:vm';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listening } from '../egress/listening.ts';

const { cache } = createRequire(import.meta.url);
const MODULE = join(import.meta.dirname, '../../src/actors/playwright/load-playwright.ts');

/** The modules of Playwright that are loaded. */
const modules = () => Object.entries(cache).filter(([file]) => file.includes('playwright-core'));

/** The bundles of Playwright that are loaded. */
const loaded = () =>
  modules().flatMap(([file]) => /playwright-core\/lib\/(\w+Bundle)\.js$/.exec(file.replaceAll('\\', '/'))?.[1] ?? []);

it('answers requests between compiling and running each bundle of Playwright', async () => {
  let answers = 0;
  await using server = await listening(
    createServer((socket) => {
      answers += 1;
      socket.end();
    }),
  );
  unloadPlaywright();
  /** Number of answers between compiling and running each bundle. */
  const between: number[] = [];
  const compile = vm.compileFunction;
  const spy = vi.spyOn(vm, 'compileFunction').mockImplementation((...args) => {
    const run = compile(...args);
    const before = answers;
    const counted: typeof run = Object.assign((...given: unknown[]) => {
      between.push(answers - before);
      return run(...given);
    }, run);
    return counted;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  // With a query, it is loaded again without resetting the other modules of this process.
  const { loadPlaywright }: typeof import('../../src/actors/playwright/load-playwright.ts') = await import(
    `${MODULE}?again`
  );
  const loading = loadPlaywright();
  const again = loadPlaywright();
  let isLoading = true;
  const asking = (async () => {
    while (isLoading) await text(connect(server.port, '127.0.0.1'));
  })();
  const chromium = await loading.finally(() => {
    isLoading = false;
  });
  await asking;
  expect(chromium.name()).toBe('chromium');
  expect(await again).toBe(chromium);
  expect(loaded()).toEqual(['utilsBundle', 'coreBundle']);
  expect(between).toEqual([expect.toSatisfy(isPositive), expect.toSatisfy(isPositive)]);
});

const isPositive = (count: number) => count > 0;

/** Unloads what other tests of this process have loaded, until the end of the test. */
function unloadPlaywright(): void {
  const before = modules();
  for (const [file] of before) delete cache[file];
  onTestFinished(() => void Object.assign(cache, Object.fromEntries(before)));
}
