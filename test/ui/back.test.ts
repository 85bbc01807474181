import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleId, exampleResult } from '../support/example-result.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';

const COUNT = 700;
const WATCHES = 6;

/** Opens 110 views, scrolls in each, and goes back from it, so that it cannot be come back to. */
const OPEN_AND_GO_BACK = `(async () => {
  for (let at = 0; at < 110; at += 1) {
    const link = document.body.appendChild(Object.assign(document.createElement('a'), { href: '/ui/?host=h' + at }));
    link.click();
    link.remove();
    await new Promise((resolve) => setTimeout(resolve));
    const shown = document.querySelector('.gallery-scroll');
    while (document.querySelector('.empty') === null) await new Promise(requestAnimationFrame);
    shown.dispatchEvent(new Event('scroll'));
    await new Promise((resolve) => {
      addEventListener('popstate', () => setTimeout(resolve), { once: true });
      history.back();
    });
  }
})()`;

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

  it('shows the groups where they were left, with the focus on the group that was opened', async () => {
    const page = await ui.open('/ui/?view=groups');
    const groups = page.locator('.group');
    await expect.poll(() => groups.count()).toBe(200);
    await scrollTo(page, 3000);
    const opened = groups.nth(60);
    await opened.focus();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const [name, top] = [await focused(page), await topOf(page)];
    expect(name).toMatch(/^Page \d+$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/?text=**');
    await page.goBack();
    await expect.poll(() => topOf(page)).toBe(top);
    await expect.poll(() => focused(page)).toBe(name);
  });

  it('shows a capture where it was left', async () => {
    const page = await ui.open(`/ui/results/${exampleId(3)}`, { viewport: { width: 1280, height: 500 } });
    await page.getByRole('heading', { name: /Page \d+/ }).waitFor();
    const main = page.locator('#main');
    const other = page.getByRole('link', { name: 'Compare with another capture' });
    await expect.poll(() => main.evaluate(({ scrollHeight }) => scrollHeight)).toBeGreaterThan(900);
    await main.evaluate((element) => element.scrollTo({ top: 300 }));
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    await other.evaluate((link) => link.click());
    await page.waitForURL('**/ui/compare**');
    await page.goBack();
    await expect.poll(() => main.evaluate(({ scrollTop }) => scrollTop)).toBe(300);
  });

  it.each([
    ['the list of a scan', '/ui/scans', 'Targets', '192.0.2.0/28'],
    ['the ports of a scan', '/ui/scans', 'Ports', '8443'],
    ['the page of a watch', '/ui/watches', 'Page', 'https://example.org/watched'],
    ['the labels of a watch', '/ui/watches/new', 'Labels, separated by commas', 'shop, legal'],
    ['the note of a capture', `/ui/results/${exampleId(COUNT - 1)}`, 'Note', 'Seen by Ana'],
  ])('keeps %s that was typed, also through a reload', async (_what, path, label, text) => {
    const page = await ui.open(path);
    const field = page.getByLabel(label, { exact: true });
    await field.fill(text);
    await views(page).getByRole('link', { name: 'Receivers' }).click();
    await page.getByRole('heading', { name: 'Receivers', exact: true }).waitFor();
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe(text);
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe(text);
    expect(ui.complaints).toEqual([]);
  });

  it('keeps the common options of the capture form', async () => {
    const page = await ui.open('/ui/capture');
    const whole = page.getByLabel('Full page');
    await whole.check();
    await views(page).getByRole('link', { name: 'Watches' }).click();
    await page.getByRole('heading', { name: 'Watches' }).waitFor();
    await page.goBack();
    await expect.poll(() => whole.isChecked()).toBe(true);
  });

  it.each([
    [
      'by the arrow of a capture, with the focus on it',
      (page: Page) => page.getByRole('link', { name: 'Back to the gallery' }).click(),
      ([opened]: readonly string[]) => opened,
    ],
    [
      'after a capture was deleted, with the focus on the next one',
      async (page: Page) => {
        await page.getByRole('button', { name: 'Delete the capture' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      },
      ([, next]: readonly string[]) => next,
    ],
  ])('shows the filtered gallery where it was left %s', async (_how, leave, focus) => {
    const page = await ui.open('/ui/?text=page');
    await cards(page).first().waitFor();
    await scrollTo(page, 3000);
    await cards(page).nth(8).focus();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    const top = await topOf(page);
    expect(top).toBeGreaterThan(2000);
    const ids = await cards(page).evaluateAll((links) => links.slice(8, 10).map((link) => String(link.dataset.place)));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/results/*');
    await leave(page);
    await page.waitForURL('**/ui/?text=page');
    await expect.poll(() => topOf(page)).toBe(top);
    await expect.poll(() => focused(page)).toBe(focus(ids));
  });

  it('keeps the URLs of the capture form while many other views are opened', async () => {
    const page = await ui.open('/ui/capture');
    const urls = page.getByLabel('URL', { exact: true });
    await urls.fill('https://example.org/one');
    await views(page).getByRole('link', { name: 'Gallery' }).click();
    await cards(page).first().waitFor();
    await page.evaluate(OPEN_AND_GO_BACK);
    await page.goBack();
    await expect.poll(() => urls.inputValue()).toBe('https://example.org/one');
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
