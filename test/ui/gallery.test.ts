import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleResult } from '../support/example-result.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { LOOKS, violations } from './axe.ts';
import { HOSTILE_ID, keepHostileCapture, MARKUP } from './hostile.ts';
import { OVERFLOW, uiForSuite } from './ui-service.ts';

const FIRST_ID = 300_000_000_000_000;
/** Difference between the ids of two captures one second apart. */
const SECOND = 4_096_000;
const COUNT = 400;

describe('the gallery', () => {
  const site = siteForSuite();
  const ui = uiForSuite();

  beforeAll(async () => {
    for (let at = 0; at < COUNT; at += 1) {
      const host = at % 4 === 0 ? 'shop.example.com' : 'example.org';
      await ui.app.service.results.insert(exampleResult(FIRST_ID + at * SECOND, { title: `Page ${at}`, host }));
    }
    await keepHostileCapture(ui.app);
  });

  const capture = (path: string) => ui.app.post('/screenshot', { url: site.url(path) });
  const cards = (page: Page) => page.locator('.card-link');
  const scroller = (page: Page) => page.locator('.gallery-scroll');
  const scroll = (page: Page, top: number) =>
    scroller(page).evaluate((element, to) => element.scrollTo({ top: to }), top);

  it('shows the captures, newest first, with a thumbnail and the outcome', async () => {
    await capture('/timetable');
    const page = await ui.open('/');
    expect(page.url()).toBe(`${ui.app.baseUrl}/ui/`);
    const first = page.locator('.card').first();
    await first.getByText('Ferries today').waitFor();
    await first.getByText('200').waitFor();
    await expect
      .poll(() => first.locator('img').evaluate((image) => image.complete && image.naturalWidth > 0))
      .toBe(true);
    expect(ui.complaints).toEqual([]);
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
    await page.waitForURL('**/ui/captures/*');
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
    await page.getByText('1 of 2 chosen').waitFor();
    await page.keyboard.press('c');
    await page.waitForURL('**/ui/capture');
    await page.getByText('fullPage').waitFor();
    await page.keyboard.press('g');
    await page.waitForURL('**/ui/');
  });

  it('keeps its filter in the address bar, and reads it from there', async () => {
    const page = await ui.open('/ui/');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Host').fill('shop.example.com');
    await page.waitForURL('**/ui/?host=shop.example.com');
    await expect.poll(() => page.locator('.card-host').allInnerTexts()).not.toContain('example.org');
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

  it('shows a hostile title as text', async () => {
    const page = await ui.open('/ui/?host=example.com');
    const card = page.locator(`a[href="/ui/captures/${HOSTILE_ID}"]`);
    await card.waitFor();
    expect(await card.innerText()).toBe(MARKUP);
    expect(await page.title()).toBe('Gallery · Capstan');
    expect(ui.complaints).toEqual([]);
  });

  it('shows the requests of the view as curl commands', async () => {
    const page = await ui.open('/ui/?host=example.com');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByText(`curl '${ui.app.baseUrl}/results/by-host?host=example.com&limit=100'`).waitFor();
  });

  it('links to the page of the HTTP API', async () => {
    const page = await ui.open('/ui/');
    const link = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'API' });
    expect(await link.getAttribute('href')).toBe('/docs');
    await link.click();
    await page.waitForURL('**/docs');
  });

  it('keeps the top left of an image when its shape differs from the card', async () => {
    const page = await ui.open('/ui/');
    await page.locator('.card img').first().waitFor();
    const position = await page.evaluate(`getComputedStyle(document.querySelector('.card img')).objectPosition`);
    expect(position).toBe('0% 0%');
  });

  it('shows every field of the filters whole on a phone', async () => {
    const page = await ui.open('/ui/?status=2xx', { viewport: { width: 390, height: 844 } });
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

  it.each([...LOOKS, ['dark', { width: 3840, height: 2160 }]] as const)(
    'is accessible in %s colours on a screen of %j',
    async (colorScheme, viewport) => {
      const page = await ui.open('/ui/', { colorScheme, viewport });
      await cards(page).first().waitFor();
      await page.getByRole('button', { name: 'Filters' }).click();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate(OVERFLOW)).toBe(0);
    },
  );
});
