import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { violations } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

const KEY = 'a-secret-of-the-operator';
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';
const Captured = z.object({ data: z.object({ id: z.number() }) });
const run = promisify(execFile);

describe('the commands of "Copy as curl"', () => {
  const site = siteForSuite();
  const ui = uiForSuite({}, { apiKey: [KEY], signingKey: [SIGNING_KEY] });
  let first: number;
  let second: number;

  const capture = async (path: string) => {
    const headers = { Authorization: `Bearer ${KEY}` };
    const response = await ui.app.post('/screenshot', { url: site.url(path), evidence: 'all' }, { headers });
    return Captured.parse(await response.json()).data.id;
  };

  beforeAll(async () => {
    first = await capture('/timetable');
    second = await capture('/lighthouse');
  });

  async function open(path: string): Promise<Page> {
    const page = await ui.open(path);
    await page.getByLabel('API key').fill(KEY);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).waitFor();
    return page;
  }

  async function commandsOf(page: Page): Promise<readonly string[]> {
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.locator('.command pre').first().waitFor();
    return page.locator('.command pre').allInnerTexts();
  }

  /** Runs a command in a shell, and returns the status of its answer. A stream is ended after its first line. */
  async function statusOf(command: string): Promise<string> {
    const options = { env: { ...process.env, CAPSTAN_API_KEY: KEY }, cwd: ui.app.directory };
    if (command.startsWith('curl -N')) {
      const child = spawn('sh', ['-c', `exec ${command} -sS -i`], options);
      try {
        for await (const line of createInterface({ input: child.stdout })) return line.split(' ')[1] ?? line;
        return 'no answer';
      } finally {
        child.kill();
      }
    }
    const file = command.includes(' -o ') ? '' : '-o /dev/null';
    const { stdout } = await run('sh', ['-c', `${command} -sS ${file} -w '%{http_code}'`], options);
    return stdout.trim();
  }

  const VIEWS: readonly (readonly [view: string, path: () => string, commands: number])[] = [
    ['the gallery', () => "/ui/?text=it's&host=127.0.0.1", 2],
    ['the form for a capture', () => `/ui/capture?url=${encodeURIComponent(site.url("/short?a=it's&b=2"))}`, 1],
    ['the comparison', () => `/ui/compare?a=${first}&b=${second}`, 5],
    ['the comparison without captures', () => '/ui/compare', 1],
    ['operations', () => '/ui/operations', 6],
    ['one capture', () => `/ui/results/${first}`, 10],
    ['the watches', () => '/ui/watches', 1],
  ];

  it.each(VIEWS)('succeed in a shell, as shown by %s', async (_, path, count) => {
    const page = await open(path());
    const commands = await commandsOf(page);
    expect(commands).toHaveLength(count);
    expect(commands.join()).not.toContain(KEY);
    for (const command of commands) expect(await statusOf(command), command).toBe('200');
  });

  it('are copied to the clipboard', async () => {
    const page = await open('/ui/');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const [shown] = await commandsOf(page);
    await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    expect(await violations(page)).toEqual([]);
  });
});
