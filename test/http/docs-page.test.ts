import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_BROWSER, type RunningService, startService } from '../support/service.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { violations } from '../ui/axe.ts';
import { launchBrowser } from '../ui/ui-service.ts';

const ROOT = join(import.meta.dirname, '../..');

let directory: string;
let app: RunningService;
let browser: Browser;

beforeAll(async () => {
  directory = await makeDirectory();
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build-docs-page.js'), directory], { cwd: ROOT });
  [app, browser] = await Promise.all([
    startService(NO_BROWSER, { docsDirectory: directory, apiKey: ['docs-key'] }),
    launchBrowser(),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

describe('GET /docs', () => {
  it('serves a page without an API key, under a policy that forbids inline scripts', async () => {
    const response = await app.call('/docs');
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('Content-Security-Policy')?.split('; ') ?? [];
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("default-src 'none'");
    expect(policy.join(' ')).not.toMatch(/unsafe-eval|https?:/);
    expect((await app.call('/docs/assets/none.js')).status).toBe(404);
    expect((await app.call('/docs/../../package.json')).status).not.toBe(200);
  });

  it('follows the colours of the system, and those chosen in the web interface, with enough contrast', async () => {
    const page = await browser.newPage({ colorScheme: 'dark' });
    const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
    const lowContrast = async () => {
      await page.locator('.opblock').first().waitFor({ timeout: 60_000 });
      return violations(page, undefined, ['color-contrast']);
    };
    await page.goto(`${app.baseUrl}/docs`);
    expect([await scheme(), await lowContrast()]).toEqual(['dark', []]);
    await page.evaluate("localStorage.setItem('capstan-theme', 'light')");
    await page.reload();
    expect(await scheme()).not.toBe('dark');
    expect(await lowContrast()).toEqual([]);
    await page.close();
  });

  it('shows every operation and sends a request, without loading anything from another host', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${app.baseUrl}/docs`);
    const operations = page.locator('.opblock');
    await expect.poll(() => operations.count()).toBeGreaterThan(20);
    const livez = page.locator('.opblock', { has: page.locator('[data-path="/livez"]') }).first();
    await livez.locator('.opblock-summary-control').click();
    await livez.getByRole('button', { name: 'Try it out' }).click();
    await livez.getByRole('button', { name: 'Execute' }).click();
    await expect.poll(() => livez.locator('.live-responses-table').innerText()).toContain('"live"');
    expect([...hosts].filter((host) => host !== app.baseUrl && host !== 'null')).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
