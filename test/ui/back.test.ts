import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';

const COUNT = 700;
const WATCHES = 6;

describe('a view that is come back to', () => {
  const site = siteForSuite();
  const ui = uiForSuite();

  beforeAll(async () => {
    for (let at = 0; at < COUNT; at += 1) {
      await ui.app.service.results.insert(exampleResult(exampleId(at), { title: `Page ${at}` }));
    }
    for (let at = 0; at < WATCHES; at += 1) {
      const watch = { url: `${site.url('/short')}?${at}`, every: '300d', viewport: { width: 64, height: 64 } };
      expect((await ui.app.post('/watches', watch)).status).toBe(201);
    }
  });

  const views = (page: Page) => page.getByRole('navigation', { name: 'Views' });
  const cards = (page: Page) => page.locator('.card-link');
  const scroller = (page: Page) => page.locator('.gallery-scroll');
  const topOf = (page: Page) => scroller(page).evaluate(({ scrollTop }) => scrollTop);
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.dataset.place ?? "none"');

  /** Scrolls as far as it takes, as a hand does. */
  async function scrollTo(page: Page, top: number): Promise<void> {
    const scroll = () => scroller(page).evaluate((element, to) => element.scrollTo({ top: to }), top);
    await expect
      .poll(async () => {
        await scroll();
        return topOf(page);
      })
      .toBe(top);
  }

  it('shows the gallery where it was left, with the focus on the capture that was opened', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await scrollTo(page, 28_000);
    await cards(page).nth(8).focus();
    // The list draws its rows, and tells that it was scrolled, with the next frames.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const id = await focused(page);
    expect(id).toMatch(/^\d+$/);
    const top = await topOf(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Page \d+/ }).waitFor();
    await page.goBack();
    await expect.poll(() => topOf(page)).toBe(top);
    await expect.poll(() => focused(page)).toBe(id);

    await page.goForward();
    await page.getByRole('heading', { name: /Page \d+/ }).waitFor();
    await page.reload();
    await page.goBack();
    await expect.poll(() => topOf(page)).toBe(top);
    await expect.poll(() => focused(page)).toBe(id);
    expect(ui.complaints).toEqual([]);
  });

  it('begins a gallery that is opened anew at its top', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    await scrollTo(page, 4000);
    await views(page).getByRole('link', { name: 'Capture' }).click();
    await views(page).getByRole('link', { name: 'Gallery' }).click();
    await cards(page).first().waitFor();
    expect(await topOf(page)).toBe(0);
  });

  it('goes back from one filter to the one before, and a word that is typed is one step', async () => {
    const page = await ui.open('/ui/');
    await cards(page).first().waitFor();
    const search = page.getByRole('searchbox', { name: 'Search titles and URLs' });
    await search.pressSequentially('page 69', { delay: 400 });
    await page.waitForURL('**/ui/?text=page+69');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Status').selectOption('404');
    await page.waitForURL('**status=404**');
    await page.goBack();
    await page.waitForURL('**/ui/?text=page+69');
    await expect.poll(() => search.inputValue()).toBe('page 69');
    await page.goBack();
    await page.waitForURL('**/ui/');
    await expect.poll(() => search.inputValue()).toBe('');
    expect(ui.complaints).toEqual([]);
  });

  it('shows the watches where they were left', async () => {
    const page = await ui.open('/ui/watches', { viewport: { width: 1280, height: 500 } });
    const main = page.locator('#main');
    await expect.poll(() => page.getByRole('article').count()).toBe(WATCHES);
    const last = page.getByRole('link', { name: 'Change' }).last();
    await last.focus();
    const id = await last.getAttribute('data-place');
    const top = await main.evaluate(({ scrollTop }) => scrollTop);
    expect(top).toBeGreaterThan(200);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await page.goBack();
    await expect.poll(() => main.evaluate(({ scrollTop }) => scrollTop)).toBe(top);
    await expect.poll(() => focused(page)).toBe(id);
  });

  it('keeps URLs that were typed into the capture form, and offers an empty one elsewhere', async () => {
    const page = await ui.open('/ui/capture');
    const urls = 'https://example.org/one\nhttps://example.org/two';
    await page.getByLabel('URL', { exact: true }).fill(urls);
    await views(page).getByRole('link', { name: 'Watches' }).click();
    await page.getByRole('heading', { name: 'Watches' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByLabel('URL', { exact: true }).inputValue()).toBe(urls);
    await views(page).getByRole('link', { name: 'Gallery' }).click();
    await views(page).getByRole('link', { name: 'Capture' }).click();
    await expect.poll(() => page.getByLabel('URL', { exact: true }).inputValue()).toBe('');
  });

  it('takes a capture that is deleted in one tab out of the gallery of another', async () => {
    const page = await ui.open('/ui/');
    const card = cards(page).first();
    const id = await card.getAttribute('data-place');
    const other = await page.context().newPage();
    await other.goto(new URL(`/ui/results/${id}`, page.url()).href);
    await other.getByRole('button', { name: 'Delete' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await other.waitForURL('**/ui/');
    await expect.poll(() => page.locator(`.card-link[data-place="${id}"]`).count()).toBe(0);
  });
});
