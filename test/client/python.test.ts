import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const PROGRAM = join(import.meta.dirname, '../../examples/python/read_pages.py');

const site = siteForSuite();
const app = serviceForSuite();

it('reads a list of pages with the standard library of Python alone, in fewer than 60 lines', async () => {
  const urls = [site.url('/short'), site.url('/long')];
  const env = { ...process.env, CAPSTAN_URL: app.baseUrl };
  const { stdout, stderr } = await promisify(execFile)('python3', [PROGRAM, ...urls], { env, timeout: 60_000 });
  for (const url of urls) expect(stdout).toContain(`# ${url}\n`);
  expect(stdout).toContain('deep water');
  expect(stderr).toBe('');
  expect((await readFile(PROGRAM, 'utf8')).split('\n').length).toBeLessThan(60);
});
