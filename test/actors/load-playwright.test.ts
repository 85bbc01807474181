import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { listening } from '../egress/listening.ts';

const { cache } = createRequire(import.meta.url);

/** The bundles of Playwright that are loaded. */
const loaded = () =>
  Object.keys(cache).flatMap(
    (file) => /playwright-core\/lib\/(\w+Bundle)\.js$/.exec(file.replaceAll('\\', '/'))?.[1] ?? [],
  );

it('answers requests between the bundles of Playwright', async () => {
  await using server = await listening(createServer((socket) => socket.end(loaded().join())));
  // Other tests of this process may have loaded them.
  for (const file of Object.keys(cache)) if (file.includes('playwright-core')) delete cache[file];
  vi.resetModules();
  const { loadPlaywright } = await import('../../src/actors/playwright/load-playwright.ts');
  const answers = new Set<string>();
  const loading = loadPlaywright();
  const again = loadPlaywright();
  while (loaded().length < 2) answers.add(await text(connect(server.port, '127.0.0.1')));
  expect((await loading).name()).toBe('chromium');
  expect(await again).toBe(await loading);
  expect(loaded()).toEqual(['utilsBundle', 'coreBundle']);
  expect([...answers]).toEqual(expect.arrayContaining(['', 'utilsBundle']));
});
