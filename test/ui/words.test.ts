import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

const PAGE = `<!doctype html><title>Whales</title><style>body{font:20px sans-serif;margin:40px}</style>
  <h1>The largest animals</h1><p>Nobody knows how the blue whale finds its way through the ocean.</p>
  <p style="margin-top:900px">A blue whale weighs as much as thirty elephants.`;

describe('a search by words in the web interface', () => {
  const ui = uiForSuite({ indexWords: true });

  beforeAll(async () => {
    for (const html of ['<!doctype html><title>Other</title><p>Nothing about animals', PAGE]) {
      expect((await ui.app.post('/screenshot', { html, fullPage: true })).status).toBe(200);
    }
  });

  const field = (page: Page) => page.getByRole('searchbox', { name: 'Search the words on the pages' });

  it('shows where the words are: in the list, in its thumbnails, and in the screenshot', async () => {
    const page = await ui.open('/ui/');
    await page.locator('.card').nth(1).waitFor();
    await field(page).fill('"blue whale"');
    await expect.poll(() => page.locator('.card').count()).toBe(1);
    expect(await page.locator('.card mark').allTextContents()).toContain('blue whale');
    const thumbnail = await page.locator('.card .thumbnail').boundingBox();
    const lit = await page.locator('.card .mark-found').first().boundingBox();
    expect(lit !== null && thumbnail !== null && lit.y > thumbnail.y && lit.y < thumbnail.y + thumbnail.height).toBe(
      true,
    );
    await page.locator('.card-link').first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Words found' }).waitFor();
    expect(await page.locator('.detail-snippets mark').allTextContents()).toEqual(['blue whale', 'blue whale']);
    const image = page.getByRole('img', { name: 'Screenshot of Whales' });
    const size = await image.evaluate((element) => ({ width: element.clientWidth, height: element.clientHeight }));
    const marks = page.locator('.viewer .mark-found');
    await expect.poll(() => marks.count()).toBe(2);
    const [first, second] = await Promise.all([marks.first(), marks.last()].map((each) => each.boundingBox()));
    const shown = await image.boundingBox();
    expect(size.height).toBeGreaterThan(0);
    for (const place of [first, second]) {
      expect(
        place != null && shown !== null && place.x >= shown.x && place.y + place.height <= shown.y + shown.height,
      ).toBe(true);
    }
    expect((second?.y ?? 0) - (first?.y ?? 0)).toBeGreaterThan(size.height / 2);
    expect(ui.complaints).toEqual([]);
  });

  it('offers a search of page words when titles and URLs have none of them', async () => {
    const page = await ui.open('/ui/');
    await page.getByRole('searchbox', { name: 'Search titles and URLs' }).fill('as much as thirty elephants');
    await page.getByRole('link', { name: 'Search the words on the pages' }).click();
    await expect.poll(() => page.locator('.card-title').allTextContents()).toEqual(['Whales']);
  });

  it('shows the passage with the most of the words in the list', async () => {
    const page = await ui.open(`/ui/?${new URLSearchParams({ words: 'animals weighs thirty elephants' })}`);
    await expect.poll(() => page.locator('.card mark').allTextContents()).toEqual(['weighs', 'thirty', 'elephants']);
  });

  it('says that pages must be indexed when it finds none', async () => {
    const page = await ui.open('/ui/?words=unheard');
    await page.getByText('--index-words').waitFor();
  });

  it('is accessible', async () => {
    const page = await ui.open('/ui/?words=whale');
    await page.locator('.card mark').first().waitFor();
    await expectAccessible(page);
    await page.locator('.card-link').first().click();
    await page.getByRole('heading', { name: 'Words found' }).waitFor();
    await expectAccessible(page);
  });
});
