import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { loadPlaywright } from '../../src/actors/playwright/load-playwright.ts';

const { cache } = createRequire(import.meta.url);

/** The bundles of Playwright that are loaded. */
const loaded = () =>
  Object.keys(cache).flatMap(
    (file) => /playwright-core\/lib\/(\w+Bundle)\.js$/.exec(file.replaceAll('\\', '/'))?.[1] ?? [],
  );

it('gives way to other work between the bundles of Playwright', async () => {
  expect(loaded()).toEqual([]);
  const loading = loadPlaywright();
  expect(loaded()).toEqual(['utilsBundle']);
  expect((await loading).name()).toBe('chromium');
  expect(loaded()).toEqual(['utilsBundle', 'coreBundle']);
});
