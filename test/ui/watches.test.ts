import { createServer } from 'node:http';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Listening, listening } from '../egress/listening.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';
import { watchesOf } from './watches-of.ts';

const SHOP = { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' } as const;
const NEWS = { name: 'news', key: 'news-key', rate: null, scope: 'capture' } as const;

/** The board is captured whole, at two pixels of the image for each of the page. */
const SCALE = 2;
const WIDTH = 800;
const BOARD = { viewport: { width: WIDTH, height: 600, deviceScaleFactor: SCALE }, fullPage: true };
/** Places on the board, in pixels of the page. */
const CLOCK = { x: 100, y: 2400, width: 200, height: 40 };
const OFFER = { x: 400, y: 2300, width: 300, height: 200 };
const PRICE = { x: 450, y: 2350, width: 100, height: 50 };

type Place = typeof CLOCK;

function board(time: string): string {
  const at = ({ x, y, width, height }: Place) =>
    `position:absolute;left:${x}px;top:${y}px;width:${width}px;height:${height}px`;
  return `<!doctype html><title>Board</title><body style="margin:0;height:2600px;font:20px sans-serif"><h1>Board</h1>
<div id="clock" style="${at(CLOCK)}">${time}</div>
<div class="offer" style="${at(OFFER)};background:#fd6"><b style="position:absolute;left:50px;top:50px;width:100px;height:50px;background:#d62">12</b></div>`;
}

describe('the watches view', () => {
  const ui = uiForSuite({ namedKeys: [SHOP, NEWS] });
  const { all, read, add, run } = watchesOf(ui);
  let site: Listening;
  let words = 'The ferry sails at nine.';
  let visits = 0;

  beforeAll(async () => {
    site = await listening(
      createServer((request, response) => {
        response.setHeader('Content-Type', 'text/html');
        visits += 1;
        if (request.url === '/board') return response.end(board(`Visit ${visits} of this page`));
        response.end(
          `<!doctype html><title>Harbour</title><h1>Harbour</h1><p class="news">${words.repeat(40)}<p><a href="/${words.length}">Details</a>`,
        );
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  const url = (path: string) => `http://127.0.0.1:${site.port}${path}`;
  const watching = (path: string, body: object = {}) => add({ url: url(path), ...body });

  it('adds a watch, runs it, shows what changed, pauses it and deletes it', async () => {
    const page = await ui.open('/ui/watches');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByText('No page is watched').waitFor();
    await page.getByLabel('Page').fill(url('/ferry'));
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    const watch = page.getByRole('article', { name: url('/ferry') });
    await watch.getByText('first', { exact: true }).first().waitFor();
    words = 'The ferry does not sail.';
    await watch.getByRole('button', { name: 'Run' }).click();
    await watch.getByText('changed', { exact: true }).waitFor();
    await expect.poll(() => watch.locator('.film li').count()).toBe(2);
    await watch.getByRole('img', { name: /^Newest 2 runs: 1 changed, the most by \d+\.\d+ % on / }).waitFor();
    await watch.getByRole('button', { name: 'Pause' }).click();
    await watch.getByText('paused').waitFor();
    expect(asked.filter((each) => each.includes('/history') || each.includes('/watches?')).length).toBeLessThan(2);
    await watch.locator('.film .changed a').click();
    await expect.poll(() => page.url()).toMatch(/\/ui\/compare\?a=\d+&b=\d+&watch=\d+/);
    await page.goBack();
    await watch.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No page is watched').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows more watches than a page has', async () => {
    await watching('/ferry');
    await watching('/board');
    const page = await ui.open('about:blank');
    await page.route('**/watches?limit=50*', (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
    );
    await page.goto(`${ui.app.baseUrl}/ui/watches`);
    await page.getByRole('article', { name: url('/ferry') }).waitFor();
    await page.getByRole('button', { name: 'Show more watches' }).click();
    await page.getByRole('article', { name: url('/board') }).waitFor();
    await page.getByRole('button', { name: 'Show more watches' }).waitFor({ state: 'detached' });
  });

  it('names what is wrong with the page', async () => {
    const page = await ui.open('/ui/watches');
    await page.getByLabel('Page').fill('ftp://example.com');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('alert').getByText('ftp').waitFor();
  });

  /** Returns where a place of the board is in the shown screenshot. */
  async function shownAt(stage: Locator, place: Place) {
    const { x, y, width = 0 } = (await stage.boundingBox()) ?? { x: 0, y: 0 };
    const scale = width / WIDTH;
    return { x: x + place.x * scale, y: y + place.y * scale, width: place.width * scale, height: place.height * scale };
  }
  async function expectOver(marks: Locator, stage: Locator, place: Place) {
    await expect.poll(() => marks.count()).toBe(1);
    const [found, wanted] = [await marks.boundingBox(), await shownAt(stage, place)];
    for (const side of ['x', 'y', 'width', 'height'] as const) {
      expect(Math.abs((found?.[side] ?? 0) - wanted[side]), side).toBeLessThan(2);
    }
  }
  /** Returns the middle of a place, from the corner of the screenshot. */
  async function middleOf(stage: Locator, place: Place) {
    const { x = 0, y = 0 } = (await stage.boundingBox()) ?? {};
    const shown = await shownAt(stage, place);
    return { position: { x: shown.x - x + shown.width / 2, y: shown.y - y + shown.height / 2 } };
  }
  const chips = (page: Page) => page.getByRole('list', { name: 'Ignored' }).getByRole('listitem');

  it('chooses ignored elements and rectangles on a tall screenshot with two pixels for each of the page', async () => {
    const id = await watching('/board', BOARD);
    const page = await ui.open(`/ui/watches/${id}`);
    const stage = page.getByRole('application');
    await page.locator('.stage[aria-busy=false]').waitFor();
    await stage.hover(await middleOf(stage, CLOCK));
    await page.locator('#stage-status').getByText('#clock').waitFor();
    await expectOver(page.locator('.mark-lit'), stage, CLOCK);

    await stage.click(await middleOf(stage, CLOCK));
    await expect.poll(() => chips(page).allInnerTexts()).toEqual(['element\n#clock']);
    await expectOver(page.locator('.mark-ignored'), stage, CLOCK);
    await stage.click(await middleOf(stage, CLOCK));
    await expect.poll(() => chips(page).count()).toBe(0);

    await stage.click(await middleOf(stage, PRICE));
    await expectOver(page.locator('.mark-ignored'), stage, PRICE);
    await page.getByRole('button', { name: 'Ignore what is around it' }).click();
    await expectOver(page.locator('.mark-ignored'), stage, OFFER);
    await page.getByRole('button', { name: 'Do not ignore selector:.offer' }).click();
    await expect.poll(() => page.locator('.mark-ignored').count()).toBe(0);

    await page.getByText('Rectangle', { exact: true }).click();
    await stage.hover(await middleOf(stage, OFFER));
    const from = await shownAt(stage, PRICE);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + from.width, from.y + from.height);
    await page.mouse.up();
    await expectOver(page.locator('.mark-ignored'), stage, PRICE);
    for (const also of ['selector:b:not(.old)', 'text:Visit *']) {
      await page.getByLabel('Ignore also').fill(also);
      await page.getByLabel('Ignore also').press('Enter');
    }
    expect(ui.complaints).toEqual([]);

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: url('/board') }).waitFor();
    const { ignore } = await read(id);
    const numbers = ignore[0]?.split(',').map(Number) ?? [];
    const drawn = [PRICE.x, PRICE.y, PRICE.width, PRICE.height].map((each) => each * SCALE);
    for (const [at, each] of drawn.entries()) expect(Math.abs((numbers[at] ?? 0) - each)).toBeLessThan(6);
    expect(ignore.slice(1)).toEqual(['selector:b:not(.old)', 'text:Visit *']);
  });

  it('chooses elements and rectangles with keys alone, and saves what no longer counts as a change', async () => {
    const id = await watching('/board', { ...BOARD, compare: { visual: { threshold: 0 } } });
    expect((await run(id))?.state).toBe('changed');
    const page = await ui.open(`/ui/watches/${id}`);
    const stage = page.getByRole('application');
    await page.locator('.stage[aria-busy=false]').focus();
    const status = page.locator('#stage-status');
    for (const [key, name] of [
      ['ArrowDown', 'html > body > h1'],
      ['ArrowRight', '#clock'],
      ['ArrowRight', '.offer'],
      ['ArrowDown', '.offer > b'],
      ['ArrowUp', '.offer'],
      ['ArrowLeft', '#clock'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => status.locator('code').allInnerTexts()).toEqual([name]);
    }
    await page.keyboard.press('Enter');
    await expect.poll(() => chips(page).allInnerTexts()).toEqual(['element\n#clock']);
    await page.getByRole('radio', { name: 'Rectangle' }).check({ force: true });
    await stage.focus();
    for (const key of ['Enter', 'ArrowRight', 'Shift+ArrowDown', 'Enter']) await page.keyboard.press(key);
    await expect.poll(() => chips(page).count()).toBe(2);
    await page.getByRole('button', { name: /^Do not ignore \d+,/ }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: url('/board') }).waitFor();
    expect((await read(id)).ignore).toEqual(['selector:#clock']);
    expect((await run(id))?.state).toBe('unchanged');
  });

  it('proposes to ignore what differs each time, on the screenshot of a new watch', async () => {
    const page = await ui.open('/ui/watches');
    await page.getByLabel('Page').fill(url('/board'));
    await page.getByRole('link', { name: 'Choose values and receivers' }).click();
    await page.getByLabel('Full page').check();
    await page.getByRole('button', { name: 'Find what differs each time' }).click();
    await page.locator('.unstable').getByText('#clock').waitFor({ timeout: 240_000 });
    await page.getByRole('application').waitFor();
    await page.locator('.unstable li').hover();
    await expect.poll(() => page.locator('.mark-lit').count()).toBe(1);
    await page.getByRole('button', { name: 'Ignore it' }).click();
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('article', { name: url('/board') }).waitFor();
    const [watch] = await all();
    expect(watch).toMatchObject({ ignore: ['selector:#clock'], options: { fullPage: true } });
    expect(ui.complaints).toEqual([]);
  });

  it('lists what changed between two runs, lights it in both screenshots, and ignores it in the watch', async () => {
    words = 'The ferry sails at ten.';
    const id = await watching('/ferry', { compare: { visual: true, text: true, links: true } });
    words = 'The ferry sails at eleven today.';
    const changed = await run(id);
    const page = await ui.open('/ui/watches');
    await page.locator('.film .changed a').click();
    const change = page.locator('.changes li', { hasText: '.news' });
    await change.getByText('Edited').waitFor();
    await change.hover();
    await expect.poll(() => page.locator('.mark-lit').count()).toBe(2);
    await page.locator('.diff .diff-added', { hasText: 'at eleven' }).first().waitFor();
    await page.locator('.link-changes .diff-removed').getByText(url('/23')).waitFor();
    await page.getByRole('button', { name: 'Ignore .news' }).click();
    await change.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('.mark-ignored[title="Ignored"]').count()).toBe(2);
    await page.getByText('The same text.').waitFor();
    await page.getByRole('button', { name: 'Ignore in the watch' }).click();
    await page.getByText('ignores this').waitFor();
    expect((await read(id)).ignore).toEqual(['selector:.news']);
    await page.reload();
    await expect.poll(() => chips(page).allInnerTexts()).toEqual(['element\n.news']);
    const compared = `/compare?a=${changed?.before}&b=${changed?.capture}&ignore=selector:.news`;
    const { data } = z
      .object({ data: z.object({ share: z.number() }) })
      .parse(await (await ui.app.call(compared)).json());
    await page
      .getByText(`${(data.share * 100).toFixed(2)} %`)
      .or(page.getByText('0 %'))
      .first()
      .waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows a key its own watches alone, and one that only reads no way to change them', async () => {
    const keys = { apiKey: [SHOP.key, NEWS.key], isolateKeys: true };
    await using stack = new AsyncDisposableStack();
    const served = async (scope: 'read' | 'capture') => {
      const app = await ui.serve({ ...keys, namedKeys: [{ ...SHOP, scope }, NEWS] });
      stack.defer(() => app.close());
      return app.baseUrl;
    };
    const logIn = async (at: string, key: string) => {
      const page = await ui.open(`${at}/ui/watches`);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
      return page;
    };
    const [writing, reading] = [await served('capture'), await served('read')];
    const page = await logIn(writing, SHOP.key);
    await page.getByLabel('Page').fill(url('/ferry'));
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('article').getByText('first', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Change' }).waitFor();
    const others = await logIn(writing, NEWS.key);
    await others.getByText('No page is watched').waitFor();

    const reader = await logIn(reading, SHOP.key);
    const watch = reader.getByRole('article', { name: url('/ferry') });
    await watch.getByRole('img', { name: /^Newest 1 runs?: 0 changed/ }).waitFor();
    expect(await reader.locator('main').getByRole('button').allInnerTexts()).toEqual(['Copy as curl']);
    expect(await reader.getByLabel('Page').count()).toBe(0);
    const [{ id } = { id: 0 }] = await all();
    await reader.goto(`${reading}/ui/watches/${id}`);
    await reader.getByText('may read watches, and not change them').waitFor();
  });

  it('is accessible in all colours on all screens', async () => {
    words = 'The ferry sails at noon.';
    const id = await watching('/ferry', { ignore: ['selector:h1', '0,0,50,50'], labels: ['harbour'] });
    words = 'The ferry sails at dusk and at dawn.';
    await run(id);
    const page = await ui.open('/ui/watches');
    await page.locator('.film .changed').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Change' }).click();
    await expect.poll(() => page.locator('.mark-ignored').count()).toBe(2);
    await page.getByRole('application').focus();
    await page.keyboard.press('ArrowDown');
    await expectAccessible(page);
    await page.goBack();
    await page.locator('.film .changed a').click();
    await expectAccessible(page, { act: () => page.locator('.changes li').first().hover() });
  });
});
