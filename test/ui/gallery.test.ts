import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { expectAccessible, LOOKS, OVERFLOW, violations } from './axe.ts';
import { HOSTILE_ID, keepHostileCapture, MARKUP } from './hostile.ts';
import { PHONE, uiForSuite } from './ui-service.ts';

const COUNT = 400;

describe('the gallery', () => {
  const site = siteForSuite();
  const ui = uiForSuite();

  beforeAll(async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const host = at % 4 === 0 ? 'shop.example.com' : 'example.org';
      await ui.app.service.results.insert(exampleResult(exampleId(at), { title: `Page ${at}`, host }));
    }
    await keepHostileCapture(ui.app);
  });

  const capture = (path: string) => ui.app.post('/screenshot', { url: site.url(path) });
  const cards = (page: Page) => page.locator('.card-link');
  const scroller = (page: Page) => page.locator('.gallery-scroll');
  const scroll = (page: Page, top: number) =>
    scroller(page).evaluate((element, to) => element.scrollTo({ top: to }), top);

  it('shows the captures, newest first, with a thumbnail and the outcome, and links to the page of the HTTP API', async () => {
    await capture('/timetable');
    const page = await ui.open('/');
    expect(page.url()).toBe(`${ui.app.baseUrl}/ui/`);
    const first = page.locator('.card').first();
    await first.getByText('Ferries today').waitFor();
    await first.getByText('200').waitFor();
    await expect
      .poll(() => first.locator('img').evaluate((image) => image.complete && image.naturalWidth > 0))
      .toBe(true);
    // The top left of an image whose shape differs from the card.
    const position = await page.evaluate(`getComputedStyle(document.querySelector('.card img')).objectPosition`);
    expect(position).toBe('0% 0%');
    const api = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'API' });
    expect(await api.getAttribute('href')).toBe('/docs');
    expect(ui.complaints).toEqual([]);
    await api.click();
    await page.waitForURL('**/docs', { waitUntil: 'commit' });
  });

  it('keeps only the visible cards in the document, and reaches the last one by scrolling', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    const last = page.getByText('Page 0', { exact: true });
    await expect
      .poll(async () => {
        await scroll(page, 1e9);
        return last.count();
      })
      .toBe(1);
    expect(await page.locator('.card').count()).toBeLessThan(120);
  });

  it('moves between cards with the arrow keys and opens one with Enter', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    const focused = () => page.evaluate('document.activeElement.dataset.index');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toBe('0');
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).toBe('1');
    await page.keyboard.press('ArrowDown');
    await expect.poll(async () => Number(await focused())).toBeGreaterThan(3);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/results/*');
  });

  it('focuses the search field on / and explains the keyboard shortcuts on ?', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement === document.body')).toBe(true);
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search');
  });

  it('chooses captures with x, and opens the form with c and the gallery with g', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.index')).toBe('0');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('c');
    await page.waitForURL('**/ui/capture');
    await page.getByLabel('Full page').waitFor();
    await page.keyboard.press('g');
    await page.waitForURL('**/ui/');
  });

  it('shows the path of a capture and what it was made with, and filters by that', async () => {
    await ui.app.service.results.insert(
      exampleResult(exampleId(COUNT), {
        url: 'https://example.net/prices/2026?of=ferries',
        options: { fullPage: true, device: 'iPhone 15', darkMode: true },
      }),
    );
    const page = await ui.open('/ui/');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Made with').selectOption('iPhone 15');
    await page.waitForURL('**/ui/?option=device%3DiPhone*15');
    await expect.poll(() => page.locator('.card').count()).toBe(1);
    const card = page.locator('.card');
    await card.getByText('example.net/prices/2026?of=ferries').waitFor();
    expect(await card.locator('.badge.made').allInnerTexts()).toEqual(['iPhone 15', 'full page', '+1']);
  });

  it('shows the captures as a table, as the address says', async () => {
    const page = await ui.open('/ui/');
    await page.getByText('Table', { exact: true }).click();
    await page.waitForURL('**/ui/?view=table');
    const lefts = () =>
      page.locator('.card').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
    await expect.poll(async () => new Set(await lefts()).size).toBe(1);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(OVERFLOW)).toBe(0);
  });

  it('deletes and exports the selected captures, and focuses the next card, the one before, or the heading', async () => {
    const doomed = [1, 2, 3, 4].map((at) =>
      exampleResult(exampleId(COUNT + 10 + at), { title: `Doomed ${at}`, host: 'doomed.example' }),
    );
    for (const each of doomed) await ui.app.service.results.insert(each);
    const page = await ui.open('/ui/?host=doomed.example');
    const select = (at: number) => page.getByRole('button', { name: `Select Doomed ${at}` }).click();
    for (const at of [2, 3]) await select(at);
    await page.getByText('2 selected').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const file = await (await download).path();
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).title)).toEqual(['Doomed 2', 'Doomed 3']);
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    const focused = () => page.evaluate('document.activeElement.dataset.place ?? document.activeElement.tagName');
    await remove();
    await expect.poll(focused).toBe(String(doomed[0]?.id));
    await select(1);
    await remove();
    await expect.poll(focused).toBe(String(doomed[3]?.id));
    await select(4);
    await remove();
    await page.getByText('No capture matches').waitFor();
    await expect.poll(focused).toBe('H1');
    for (const { id } of doomed) expect(await ui.app.service.results.get(id)).toBeUndefined();
  });

  it('puts captures that look alike together, and marks one that looks like no other', async () => {
    const hashes = ['00000000000000ff', 'ffffffffffffff00', '00000000000001ff', null];
    for (const [at, perception_hash] of hashes.entries()) {
      const record = { title: `Look ${at}`, host: 'looks.example', perception_hash };
      await ui.app.service.results.insert(exampleResult(exampleId(COUNT + 20 + at), record));
    }
    const dead = {
      host: 'looks.example',
      perception_hash: null,
      failed: true,
      failed_code: 'target_unreachable',
    } as const;
    await ui.app.service.results.insert(exampleResult(exampleId(COUNT + 24), dead));
    const page = await ui.open('/ui/?host=looks.example&view=alike');
    const titles = () => page.locator('.card-title').allInnerTexts();
    await expect.poll(titles).toEqual(['Look 2', 'Look 0', 'Look 1']);
    await page.locator('.card', { hasText: 'Look 1' }).getByText('looks like no other').waitFor();
    await page.getByText('1 left out: no perception hash.').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('keeps its filter in the address bar, and reads it from there', async () => {
    const page = await ui.open('/ui/');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Host').fill('shop.example.com');
    await page.waitForURL('**/ui/?host=shop.example.com');
    await expect.poll(() => page.locator('.card-path').allInnerTexts()).not.toContain('example.org');
    const again = await ui.open('/ui/?host=example.org');
    await again.getByText('Page 399').waitFor();
    expect(await again.getByLabel('Host').inputValue()).toBe('example.org');
    expect(await again.getByText('Page 396').count()).toBe(0);
  });

  it('shows a message when no capture matches the filters', async () => {
    const page = await ui.open('/ui/?host=nowhere.test');
    await page.getByText('No capture matches').waitFor();
  });

  it('shows a new capture without a reload', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await capture('/lighthouse');
    await page.locator('.card').first().getByText('The lighthouse').waitFor();
  });

  it('only counts new captures when the user has scrolled down, and shows them on request', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await scroll(page, 600);
    await capture('/chandlery');
    const news = page.getByRole('button', { name: '1 new capture' });
    await news.waitFor();
    expect(await page.getByText('The chandlery').count()).toBe(0);
    await news.click();
    await page.locator('.card').first().getByText('The chandlery').waitFor();
  });

  /** Inserts captures without an event. Returns the id of the last one. */
  async function insert(host: string, title: string, from: number, to: number): Promise<number> {
    for (let at = from; at < to; at += 1)
      await ui.app.service.results.insert(exampleResult(exampleId(COUNT + at), { title: `${title} ${at}`, host }));
    return exampleId(COUNT + to - 1);
  }

  it('starts anew from the newest when more new captures came than a page has, and loads all of them', async () => {
    await insert('busy.example', 'Boat', 100, 180);
    const page = await ui.open('/ui/?host=busy.example');
    await cards(page).first().waitFor();
    await scroll(page, 600);
    await insert('busy.example', 'Boat', 180, 250);
    await capture('/chandlery');
    await page.getByRole('button', { name: '60+ new captures' }).click();
    await page.locator('.card').first().getByText('Boat 249').waitFor();
    await expect
      .poll(async () => {
        await scroll(page, 1e9);
        return page.locator('p[aria-live]').innerText();
      })
      .toBe('150 captures loaded');
  });

  it('shows no capture that was deleted while others waited to be shown', async () => {
    const shown = await insert('quay.example', 'Quay', 300, 380);
    const page = await ui.open('/ui/?host=quay.example');
    await cards(page).first().waitFor();
    await scroll(page, 600);
    const waiting = await insert('quay.example', 'Ship', 380, 382);
    await capture('/chandlery');
    const news = page.getByRole('button', { name: '2 new captures' });
    await news.waitFor();
    for (const id of [shown, waiting]) await ui.app.call(`/screenshot/${id}`, { method: 'DELETE' });
    await news.click();
    const titles = async () => (await page.locator('.card-title').allInnerTexts()).slice(0, 2);
    await expect.poll(titles).toEqual(['Ship 380', 'Quay 378']);
  });

  it('shows a hostile title as text, and the requests of the view as curl commands', async () => {
    const page = await ui.open('/ui/?host=example.com');
    const card = page.locator(`a[href="/ui/results/${HOSTILE_ID}"]`);
    await card.waitFor();
    expect(await card.locator('.card-title').innerText()).toBe(MARKUP);
    expect(await page.title()).toBe('Gallery · Capstan');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText(`curl '${ui.app.baseUrl}/results/by-host?host=example.com&limit=100'`).waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows every field of the filters whole on a phone', async () => {
    const page = await ui.open('/ui/?status=2xx', PHONE);
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    const fields = page.locator('.filters-rest').locator('input, select');
    await fields.first().waitFor();
    const boxes = await fields.evaluateAll((elements) =>
      elements.map((element) => element.getBoundingClientRect().toJSON()),
    );
    for (const [at, { left, right, top, bottom }] of boxes.entries()) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(390);
      for (const other of boxes.slice(at + 1)) {
        const isApart = other.left >= right || other.right <= left || other.top >= bottom || other.bottom <= top;
        expect(isApart).toBe(true);
      }
    }
  });

  it('tells pages of one title apart in the table on a phone', async () => {
    const page = await ui.open('/ui/?view=table&host=shop.example.com', PHONE);
    const row = page.locator('.card').first();
    await row.waitFor();
    const [outer, title, host] = await Promise.all(
      [row, row.locator('.card-title'), row.getByText('shop.example.com')].map((part) => part.boundingBox()),
    );
    expect(title?.y).toBeGreaterThanOrEqual(outer?.y ?? Infinity);
    expect(host?.y).toBeGreaterThanOrEqual((title?.y ?? Infinity) + (title?.height ?? 0) - 1);
    expect((host?.y ?? Infinity) + (host?.height ?? 0)).toBeLessThanOrEqual((outer?.y ?? 0) + (outer?.height ?? 0));
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await page.getByRole('button', { name: 'Filters' }).click();
    await expectAccessible(page, { looks: [...LOOKS, ['dark', { width: 3840, height: 2160 }]] });
  });
});
