import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportScan, type ScannedFailure, type ScannedPage } from '../../src/archive/export-scan.ts';
import { NO_EVIDENCE } from '../../src/capture/result/evidence.ts';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { MARKUP } from '../ui/hostile.ts';
import { launchBrowser } from '../ui/ui-service.ts';

const CAPTURES = 1_200;
const FAILURES = 300;
/** Captures whose pages look the same. */
const PARKED = 400;

async function* outcomes(): AsyncGenerator<ScannedPage | ScannedFailure, void, undefined> {
  for (let at = 0; at < CAPTURES; at += 1) {
    const url = `https://host-${at}.example/`;
    // Hashes of numbers that are multiplied by an odd one differ in many bits.
    const own = ((BigInt(at + 1) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn).toString(16).padStart(16, '0');
    const result = exampleResult(exampleId(at), {
      url,
      final_url: url,
      title: at === 7 ? MARKUP : at < PARKED ? `Parked ${at}` : `Site ${at}`,
      response_code: at % 10 === 9 ? 404 : 200,
      remote_ip: `192.0.2.${at % 256}`,
      perception_hash: at < PARKED ? 'ffffffff00000000' : own,
    });
    yield { result, sameAs: undefined };
  }
  for (let at = 0; at < FAILURES; at += 1) {
    const code = at % 3 === 0 ? 'capture_timeout' : 'target_unreachable';
    yield { url: `https://dead-${at}.example/`, code, reason: MARKUP, capture: undefined };
  }
}

it('fails with the reason of a stop, which fails everything that is being read', async () => {
  const stop = new Error('stopped');
  async function* stopped(): AsyncGenerator<ScannedPage, void, undefined> {
    yield { result: exampleResult(exampleId(0)), sameAs: undefined };
    yield { result: exampleResult(exampleId(1)), sameAs: undefined };
    await delay(10);
    throw stop;
  }
  const source = { evidenceOf: () => Promise.reject(stop), openImage: () => Promise.reject(stop) };
  // A rejection that is not handled fails the test.
  await expect(exportScan(stopped(), source, await makeDirectory())).rejects.toBe(stop);
});

describe('the report of a scan', () => {
  let browser: Browser;
  let page: Page;
  const images: string[] = [];
  let directory: string;

  beforeAll(async () => {
    directory = await makeDirectory();
    const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const evidenceOf = async () => ({
      ...NO_EVIDENCE,
      headers: { items: [{ name: 'Server', value: 'nginx' }], omitted: 0 },
    });
    const exported = await exportScan(
      outcomes(),
      { evidenceOf, openImage: async () => Readable.from([image]) },
      directory,
    );
    expect(exported).toEqual({ captures: CAPTURES, thumbnails: CAPTURES, pages: 1 });
    browser = await launchBrowser();
    page = await (await browser.newContext({ offline: true })).newPage();
    page.on('request', (request) => request.resourceType() === 'image' && images.push(request.url()));
    await page.goto(pathToFileURL(join(directory, 'index.html')).href);
  });
  afterAll(() => browser?.close());

  const shown = () => page.locator('.filter output').textContent();
  const visible = () => page.locator('body > ul > li:visible').count();

  it('has all captures on a page, of which it loads the images that are seen', async () => {
    expect(await shown()).toBe(`${CAPTURES} of ${CAPTURES}`);
    expect(await page.locator('li').count()).toBe(CAPTURES);
    await expect.poll(() => page.evaluate('document.images[0].naturalWidth')).toBeGreaterThan(0);
    expect(images.length).toBeLessThan(100);
  });

  it('folds captures that look alike into one', async () => {
    expect(await page.getByText(`and ${PARKED - 1} alike`).count()).toBe(1);
    expect(await visible()).toBeLessThanOrEqual(CAPTURES - PARKED + 1);
    expect(await page.getByText('Parked 100', { exact: true }).isVisible()).toBe(false);
  });

  it('filters by words and by status, also in captures that are folded', async () => {
    const words = page.getByRole('searchbox');
    await words.fill('nginx SITE 192.0.2.144');
    expect(await shown()).toBe(`4 of ${CAPTURES}`);
    expect(await visible()).toBe(4);
    await words.fill('parked 399');
    expect(await shown()).toBe(`1 of ${CAPTURES}`);
    expect(await page.getByText('Parked 399').isVisible()).toBe(true);
    await words.fill('');
    await page.getByRole('combobox').selectOption('404');
    expect(await shown()).toBe(`${CAPTURES / 10} of ${CAPTURES}`);
    await page.getByRole('combobox').selectOption('');
    expect(await shown()).toBe(`${CAPTURES} of ${CAPTURES}`);
    expect(await page.locator('details[open]').count()).toBe(0);
  });

  it('runs no script but its own, whatever the titles', async () => {
    await page.evaluate('document.querySelector("details").open = true');
    expect(await page.getByText(MARKUP).first().isVisible()).toBe(true);
    expect(await page.title()).toBe('Captures, page 1');
    expect(images.filter((url) => !url.startsWith('file:'))).toEqual([]);
  });

  it('has a table of the targets that were not captured, which is filtered likewise', async () => {
    // Looking for a role takes 15 s on this page.
    await page.locator('nav a', { hasText: 'Not captured' }).first().click();
    expect(await shown()).toBe(`${FAILURES} of ${FAILURES}`);
    await page.getByRole('combobox').selectOption('capture_timeout');
    expect(await page.locator('tr:visible').count()).toBe(FAILURES / 3 + 1);
  });
});
