import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { expectAccessible, violations } from './axe.ts';
import { HOSTILE_ID, keepHostileCapture, LARGE_MAP, MARKUP } from './hostile.ts';
import { uiForSuite } from './ui-service.ts';

const Captured = z.object({ data: z.object({ id: z.number() }) });

const TABS = ['Network', 'Redirects', 'Headers', 'TLS', 'Console', 'Cookies', 'Other'];

describe('the view of one capture', () => {
  const site = siteForSuite();
  const ui = uiForSuite();
  let long: number;
  let network: number;

  const capture = async (path: string, options = {}) => {
    const response = await ui.app.post('/screenshot', { url: site.url(path), evidence: 'all', ...options });
    return Captured.parse(await response.json()).data.id;
  };

  beforeAll(async () => {
    long = await capture('/long', { fullPage: true });
    network = await capture('/evidence/network');
    await keepHostileCapture(ui.app);
  });

  const imageSize = (page: Page) =>
    page.locator('.canvas img').evaluate((image) => [image.clientWidth, image.clientHeight]);
  const tab = (page: Page, name: string) => page.getByRole('tab', { name });

  it('shows the screenshot in three sizes', async () => {
    const page = await ui.open(`/ui/results/${long}`, { viewport: { width: 1440, height: 900 } });
    await page.locator('.canvas img').waitFor();
    const frame = await page.locator('.canvas').evaluate((element) => element.clientWidth);
    await expect.poll(async () => (await imageSize(page))[0]).toBe(frame);
    await page.getByText('1:1', { exact: true }).click();
    await expect.poll(async () => (await imageSize(page))[0]).toBe(1280);
    await page.getByText('Whole', { exact: true }).click();
    await expect.poll(async () => (await imageSize(page))[1]).toBeLessThan(900);
    expect(ui.complaints).toEqual([]);
  });

  it('shows the phases, the requests as a waterfall, and the other evidence', async () => {
    const page = await ui.open(`/ui/results/${network}`);
    await page.locator('.timings').getByText('navigate').waitFor();
    const row = page.locator('.waterfall tr', { hasText: '/empty-response' });
    await row.getByText('ERR_EMPTY_RESPONSE').waitFor();
    const starts = await page
      .locator('.waterfall .bar')
      .evaluateAll((bars) => bars.map((bar) => Number.parseFloat(Reflect.get(bar, 'style').left)));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(starts.at(-1)).toBeGreaterThan(0);
    await tab(page, 'Headers').click();
    await page.getByRole('cell', { name: 'content-type', exact: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByText('The page came without TLS.').waitFor();
  });

  it('lists earlier captures of the URL and visually similar ones', async () => {
    const first = await capture('/tide-table');
    const second = await capture('/tide-table');
    await capture('/tide-table?v=2');
    const page = await ui.open(`/ui/results/${second}`);
    const history = page.locator('section', { hasText: 'History of this URL' });
    await history.locator(`a[href="/ui/results/${first}"]`).waitFor();
    const similar = page.locator('section', { hasText: 'Visually similar' });
    await expect.poll(() => similar.getByRole('listitem').count()).toBe(2);
    await history.locator(`a[href="/ui/results/${first}"]`).click();
    await page.waitForURL(`**/ui/results/${first}`);
  });

  it('removes the capture after confirmation', async () => {
    const id = await capture('/short');
    const page = await ui.open(`/ui/results/${id}`);
    await page.getByRole('button', { name: 'Delete the capture' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the capture?' });
    await dialog.getByRole('button', { name: 'Keep' }).click();
    expect((await ui.app.call(`/results/${id}`)).status).toBe(200);
    await page.getByRole('button', { name: 'Delete the capture' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/ui/');
    expect((await ui.app.call(`/results/${id}`)).status).toBe(404);
  });

  it('shows an error for an id without a capture', async () => {
    const page = await ui.open('/ui/results/12');
    await page.getByText('There is no result with the id 12.').waitFor();
  });

  it('shows everything that a page controls as text', async () => {
    const page = await ui.open(`/ui/results/${HOSTILE_ID}`);
    await page.locator('h1').getByText(MARKUP).waitFor();
    for (const name of TABS) {
      await tab(page, name).click();
      await page.getByRole('tabpanel').waitFor();
      expect(await page.getByRole('tabpanel').locator('script, img, a[href^="javascript"]').count()).toBe(0);
    }
    expect(await page.locator('a[href^="javascript" i]').count()).toBe(0);
    expect(await page.title()).toBe(`${MARKUP} · Capstan`);
    expect(ui.complaints).toEqual([]);
  });

  it('shows each output in a tab of its own, as text', async () => {
    const id = await capture('/short', { outputs: ['text'] });
    const page = await ui.open(`/ui/results/${id}`);
    await page.getByText('Text', { exact: true }).click();
    await page.frameLocator('iframe.snapshot').getByText('A small port with deep water').first().waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('lights the place of a block of the Markdown in the screenshot', async () => {
    const id = await capture('/short', { outputs: ['markdown', 'blocks'] });
    const page = await ui.open(`/ui/results/${id}`, { viewport: { width: 1440, height: 900 } });
    await page.getByText('Markdown', { exact: true }).click();
    const block = page.locator('.markdown-text pre', { hasText: 'A small port with deep water' }).first();
    await block.hover();
    const light = await page.locator('.mark-lit').boundingBox();
    const image = await page.locator('.markdown-shot').boundingBox();
    expect(light?.width).toBeGreaterThan(10);
    expect(light?.x).toBeGreaterThanOrEqual(image?.x ?? Number.POSITIVE_INFINITY);
    expect(await violations(page)).toEqual([]);
    expect(ui.complaints).toEqual([]);
  });

  it('lights the elements that a selector finds, and the one that is pointed at, in the screenshot', async () => {
    const id = await capture('/short', { viewport: { width: 640, height: 480, deviceScaleFactor: 2 } });
    const page = await ui.open(`/ui/results/${id}`, { viewport: { width: 1440, height: 900 } });
    await page.getByText('Element map', { exact: true }).click();
    await page.getByLabel('Find by CSS selector').fill('h1');
    await page.getByText('1 found').waitFor();
    const place = async () => ({
      light: await page.locator('.mark-lit').boundingBox(),
      image: await page.locator('.markdown-shot').boundingBox(),
    });
    const found = await place();
    expect(found.light?.height).toBeLessThan((found.image?.height ?? 0) / 2);
    await page.getByLabel('Find by CSS selector').fill('');
    await page.locator('.element-name', { hasText: /^body/ }).hover();
    await expect.poll(async () => (await place()).light?.height).toBeGreaterThan(found.light?.height ?? 0);
    expect(await violations(page)).toEqual([]);
    expect(ui.complaints).toEqual([]);
  });

  it('shows the element map of a hostile page as text', async () => {
    const page = await ui.open(`/ui/results/${HOSTILE_ID}`);
    await page.getByText('Element map', { exact: true }).click();
    const tree = page.locator('.elements-tree');
    await tree.getByText(MARKUP).first().waitFor();
    for (const closed of await tree.locator('[aria-expanded="false"]').all()) await closed.click();
    await page.getByLabel('Find by CSS selector').fill('script, [onclick], [src]');
    await page.getByText('2 found').waitFor();
    expect(await tree.locator('script, img').count()).toBe(0);
    expect(await page.title()).toBe(`${MARKUP} · Capstan`);
    expect(ui.complaints).toEqual([]);
  });

  it('lists the children of an element in parts, draws few of the boxes that a selector finds, and says what it cannot find', async () => {
    const { id } = await keepHostileCapture(ui.app, HOSTILE_ID + 1, LARGE_MAP);
    const page = await ui.open(`/ui/results/${id}`);
    await page.getByText('Element map', { exact: true }).click();
    const lines = page.locator('.element-line');
    await page.getByText('9902 elements').waitFor();
    expect(await lines.count()).toBe(202);
    await page.getByRole('button', { name: 'Show 200 of 8801 more' }).click();
    await page.getByRole('button', { name: 'Show 200 of 8601 more' }).waitFor();
    expect(await lines.count()).toBe(402);
    expect(await page.locator('.element-name').last().getAttribute('title')).toBe('html > body > i:nth-of-type(400)');
    await page.getByLabel('Find by CSS selector').fill('*');
    await page.getByText('9902 found').waitFor();
    expect(await page.locator('.mark-lit').count()).toBe(500);
    await page.getByLabel('Find by CSS selector').fill('b:contains("x")');
    await page.getByText('This browser does not know the selector.').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows the HTML snapshot without running or loading anything of it', async () => {
    const page = await ui.open(`/ui/results/${HOSTILE_ID}`);
    const answered: string[] = [];
    page.on('response', (response) => answered.push(response.url()));
    await page.getByText('HTML snapshot', { exact: true }).click();
    const snapshot = page.frameLocator('iframe');
    await snapshot.getByText('Hostile').waitFor();
    await snapshot.getByText('Away').click();
    await snapshot.getByText('Send').click();
    expect(await page.title()).not.toBe('owned');
    expect(page.url()).toContain('/ui/results/');
    expect(answered.filter((url) => url.includes('from='))).toEqual([]);
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open(`/ui/results/${network}`);
    await page.locator('.waterfall').waitFor();
    await expectAccessible(page);
    for (const each of await page.getByRole('tab').all()) {
      await each.click();
      await expectAccessible(page, { part: '[role=tablist], [role=tabpanel]' });
    }
  });
});
