import type { Locator, Page } from 'playwright';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Hosts, startHosts } from '../scans/hosts.ts';
import { OVERFLOW } from './axe.ts';
import { picturesOf, SCREENS, uiForSuite } from './ui-service.ts';

const SENTENCE = 'The last ferry of the day leaves at nine in the evening.';
const takePicture = picturesOf('find');
const MAX_TABS = 60;

/** Moves the focus by the keyboard until it is on an element. Returns how often the key was pressed. */
async function tabTo(page: Page, target: Locator): Promise<number> {
  await target.waitFor();
  for (let pressed = 1; pressed <= MAX_TABS; pressed += 1) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element.matches(':focus'))) return pressed;
  }
  throw new Error(`not reached with ${MAX_TABS} tabs`);
}

describe.each(SCREENS)('by the keyboard alone, %s, a person finds', (screen, options) => {
  const ui = uiForSuite({ indexWords: true, allowTargets: ['127.0.0.0/8'] });
  let hosts: Hosts;

  beforeAll(async () => {
    const icons = await Promise.all(
      ['#c00', '#00c'].map((background) =>
        sharp({ create: { width: 16, height: 16, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    hosts = await startHosts((request, response) => {
      const last = Number(/^127\.0\.0\.(\d+)/.exec(request.headers.host ?? '')?.[1]);
      const isOld = last <= 4;
      if (request.url === '/icon.png') return void response.end(icons[isOld ? 0 : 1]);
      response.writeHead(200, { 'Content-Type': 'text/html', Server: `nginx/${isOld ? '1.18.0' : '1.26.3'}` });
      return void response.end(`<!doctype html><title>Harbour ${last}</title><link rel="icon" href="/icon.png">
        <body style="font:20px sans-serif;margin:40px;background:hsl(${last * 40} 60% 90%)"><h1>Harbour ${last}</h1>
        <p>Boats go every hour.</p>${last === 7 ? `<p style="margin-top:300px">${SENTENCE}</p>` : ''}`);
    });
    const page = await ui.open('/ui/scans');
    await page.getByLabel('Targets').fill('127.0.0.2-9');
    await page.getByLabel('Ports').fill(String(hosts.port));
    await page.getByRole('button', { name: 'Scan', exact: true }).click();
    await page.getByText('completed', { exact: true }).waitFor({ timeout: 60_000 });
  });
  afterAll(() => hosts?.[Symbol.asyncDispose]());

  const cards = (page: Page) => page.locator('.card-link');
  const look = async (page: Page, name: string) => {
    await takePicture(page, `${name} ${screen}`);
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
  };

  it('the page that says a sentence, and where it says it', async () => {
    const page = await ui.open('/ui/', options);
    await cards(page).nth(7).waitFor();
    await tabTo(page, page.getByRole('searchbox', { name: 'Search the words on the pages' }));
    await page.keyboard.type(SENTENCE);
    await expect.poll(() => cards(page).count()).toBe(1);
    await look(page, 'sentence');
    await tabTo(page, cards(page));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Words found' }).waitFor();
    await page.locator('.viewer .mark-found').first().waitFor();
    await look(page, 'sentence found');
  });

  it('all pages with the favicon of one', async () => {
    const page = await ui.open('/ui/', options);
    await tabTo(page, cards(page).first());
    await page.keyboard.press('Enter');
    const icon = page.locator('.facts div').filter({ hasText: 'Favicon' }).getByRole('link');
    await icon.waitFor();
    const server = page
      .locator('.facts div')
      .filter({ hasText: /^Server/ })
      .getByRole('link');
    expect(await server.getAttribute('href')).toMatch(/\?server=nginx%2F1\.(?:18\.0|26\.3)$/);
    await look(page, 'favicon');
    await tabTo(page, icon);
    await page.keyboard.press('Enter');
    await expect.poll(() => cards(page).count()).toBeOneOf([3, 5]);
    await look(page, 'favicon found');
  });

  it('the favicons that pages share', async () => {
    const page = await ui.open('/ui/', options);
    await tabTo(page, page.getByRole('radio', { name: 'Cards' }));
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('ArrowRight');
    await tabTo(page, page.getByRole('combobox', { name: 'Group by' }));
    await page.keyboard.type('Fav');
    await page.getByText('3 captures of 3 hosts').waitFor();
    await look(page, 'favicons');
    await tabTo(page, page.getByRole('link', { name: '3 captures of 3 hosts' }));
    await page.keyboard.press('Enter');
    await expect.poll(() => cards(page).count()).toBe(3);
  });

  it('all pages of a scan that run one version of a server', async () => {
    const page = await ui.open('/ui/scans', options);
    await look(page, 'scans');
    await tabTo(page, page.getByRole('link', { name: 'Groups' }));
    await page.keyboard.press('Enter');
    await page.getByText('nginx 1.18.0').waitFor();
    await look(page, 'versions');
    await tabTo(page, page.getByRole('link', { name: 'nginx 1.18.0' }));
    await page.keyboard.press('Enter');
    await expect.poll(() => cards(page).count()).toBe(3);
    await look(page, 'version found');
    expect(ui.complaints).toEqual([]);
  });
});
