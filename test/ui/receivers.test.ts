import { createServer } from 'node:http';
import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ReceiverSchema } from '../../src/capture/work/receiver.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { type SlackReceiver, startSlack } from '../support/receivers/slack.ts';
import { expectAccessible, OVERFLOW } from './axe.ts';
import { PHONE, picturesOf, uiForSuite } from './ui-service.ts';
import { watchesOf } from './watches-of.ts';

const Listed = z.object({ data: z.array(ReceiverSchema) });

const SHOP = { name: 'shop', key: 'shop-key', rate: null, scope: 'capture' } as const;
const NEWS = { name: 'news', key: 'news-key', rate: null, scope: 'capture' } as const;

const shop = (price: string): string => `<!doctype html><html lang="de"><title>Lampe</title>
<body style="margin:0;font:20px sans-serif"><h1>Die Hafenlampe</h1>
<p id="now" style="margin:0;position:absolute;left:400px;top:100px;width:150px;background:#fd6">${price}</p>`;
/** Place of the price on the page. */
const PRICE = { x: 440, y: 110 };

const picture = picturesOf('receivers');

describe('receivers in the web interface', () => {
  // Nothing listens at that port.
  const ui = uiForSuite({ allowWebhooks: ['127.0.0.1'], notify: ['operator=ntfy:http://127.0.0.1:1023/prices'] });
  const receivers = async () => Listed.parse(await (await ui.app.call('/receivers')).json()).data;
  afterEach(async () => {
    price = '59,00 €';
    for (const { name, is_own: isOwn } of await receivers())
      if (isOwn) await ui.app.call(`/receivers/${name}`, { method: 'DELETE' });
  });
  // Watches are deleted first: hooks run in reverse.
  const watches = watchesOf(ui);
  let site: Listening;
  let slack: SlackReceiver;
  let price = '59,00 €';

  beforeAll(async () => {
    slack = await startSlack();
    site = await listening(
      createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(shop(price));
      }),
    );
  });
  afterAll(() => Promise.all([site?.[Symbol.asyncDispose](), slack?.[Symbol.asyncDispose]()]));

  const url = () => `http://127.0.0.1:${site.port}/`;
  const run = (id: number, next: string) => {
    price = next;
    return watches.run(id);
  };
  const watching = (...notify: readonly string[]) => {
    const values = { price: { selector: '#now', type: 'money' } };
    return watches.add({ url: url(), values, when: { value: 'price', changed: true }, notify });
  };
  const give = async (name: string, address = slack.url.href) =>
    expect((await ui.app.post('/receivers', { name, kind: 'slack', address })).status).toBe(201);
  /** Refuses the next messages for good. */
  const refuse = (messages: number) =>
    slack.faults.next(...Array.from({ length: messages }, () => ({ status: 404, body: 'no_service' })));
  const listed = (page: Page, name: string) => page.getByRole('article', { name, exact: true });

  it('tells a person in Slack when a price falls below 50, after one form', async () => {
    const page = await ui.open(`/ui/watches/new?url=${encodeURIComponent(url())}`);
    await page.getByRole('button', { name: 'Capture the page' }).click();
    await page.locator('.stage[aria-busy=false]').waitFor();
    await page.getByText('Value', { exact: true }).first().click();
    const stage = page.getByRole('application');
    const { width = 0 } = (await stage.boundingBox()) ?? {};
    // The window of a capture is 1280 wide.
    await stage.click({ position: { x: (PRICE.x * width) / 1280, y: (PRICE.y * width) / 1280 } });
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByRole('textbox', { name: 'Than or to' }).fill('50');

    await page.getByRole('button', { name: 'Add a receiver' }).click();
    const fields = page.getByRole('group', { name: 'New receiver' });
    const address = fields.getByLabel('Webhook URL');
    await address.fill('#prices');
    await address.press('Enter');
    await fields.getByRole('alert').getByText('must be a URL such as https://hooks.slack.com').waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    await picture(page, 'refused');
    await address.fill(slack.url.href);
    await picture(page, 'form');
    await fields.getByRole('button', { name: 'Add the receiver' }).click();
    await expect.poll(() => page.getByRole('checkbox', { name: /^slack/ }).isChecked()).toBe(true);
    await picture(page, 'chosen');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByText('Tells slack when price falls below 50').waitFor();
    await page.getByRole('article', { name: url() }).getByText('€59.00').waitFor();
    await picture(page, 'watch');

    const [watch] = await watches.all();
    expect(watch).toMatchObject({ notify: ['slack'], when: { value: 'price', below: 50 } });
    await run(watch?.id ?? 0, '52,00 €');
    await run(watch?.id ?? 0, '47,50 €');
    await expect.poll(() => slack.messages.length).toBe(1);
    expect(slack.messages[0]?.text).toBe(`${new URL(url()).host}: Price fell from €52.00 to €47.50`);
    await page.getByRole('link', { name: 'slack', exact: true }).click();
    await listed(page, 'slack').getByText('Last delivered').waitFor();
    await listed(page, 'slack').getByText('Nothing waits').waitFor();
    // The console shows the refused request.
    expect(ui.complaints.filter((text) => !text.includes('400'))).toEqual([]);
  });

  it('adds a receiver that was typed, when the watch is saved', async () => {
    const page = await ui.open(`/ui/watches/new?url=${encodeURIComponent(url())}`);
    await page.getByRole('button', { name: 'Add a receiver' }).click();
    const fields = page.getByRole('group', { name: 'New receiver' });
    await fields.getByLabel('Name').fill('team');
    await fields.getByLabel('Webhook URL').fill(slack.url.href);
    await fields.getByText('More').click();
    await fields.getByLabel('Messages are sent').selectOption('Every hour');
    await fields.getByLabel('At most in an hour').fill('0');
    await fields.getByLabel('Quiet from').fill('22:00');
    await fields.getByLabel('to, in the time').fill('07:00');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await fields.getByText('must be 1 or more').waitFor();
    expect(await watches.all()).toEqual([]);
    await picture(page, 'more');
    await fields.getByLabel('At most in an hour').fill('5');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByText('Tells team when the screenshot changes').waitFor();
    expect((await receivers())[1]).toMatchObject({ every_ms: 3_600_000, max_per_hour: 5 });
    expect((await receivers())[1]?.quiet).toMatch(/^22:00-07:00 /);

    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByRole('checkbox', { name: /^team/ }).uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: url() }).waitFor();
    expect((await watches.all())[0]?.notify).toEqual([]);
  });

  it('shows how a sample ended, and deletes a receiver', async () => {
    await give('team');
    const before = slack.messages.length;
    const page = await ui.open('/ui/receivers');
    await page.getByRole('button', { name: 'Send a test to team' }).click();
    await listed(page, 'team').getByRole('status').getByText('The receiver took the sample, HTTP 200.').waitFor();
    expect(slack.messages.length).toBe(before + 1);
    await page.getByRole('button', { name: 'Send a test to operator' }).click();
    await listed(page, 'operator').getByRole('status').getByText('not delivered').waitFor();
    await picture(page, 'tested');
    expect(
      await listed(page, 'operator')
        .getByRole('button', { name: /^Delete/ })
        .count(),
    ).toBe(0);
    await page.getByRole('button', { name: 'Delete team' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await listed(page, 'team').waitFor({ state: 'detached' });
    expect((await receivers()).map(({ name }) => name)).toEqual(['operator']);
    expect(ui.complaints).toEqual([]);
  });

  it('lists dead letters, and sends one or all of them again', async () => {
    await give('team');
    const id = await watching('team');
    refuse(3);
    for (const next of ['1 €', '2 €', '3 €']) await run(id, next);
    await expect.poll(async () => (await receivers())[1]).toMatchObject({ name: 'team', dead: 3, waiting: 0 });
    expect((await receivers())[1]?.last).toMatchObject({ delivered: false, status: 404 });
    const before = slack.messages.length;
    const page = await ui.open('/ui/receivers');
    await listed(page, 'team').getByText('3 dead letters').waitFor();
    await page.getByRole('button', { name: 'Dead letters of team' }).click();
    const letters = page.getByRole('region', { name: 'Dead letters of team' });
    await expect.poll(() => letters.getByRole('listitem').count()).toBe(3);
    await picture(page, 'dead');
    await letters.getByRole('button', { name: 'Send again: watch changed' }).first().click();
    await expect.poll(() => slack.messages.length).toBe(before + 1);
    await listed(page, 'team').getByText('2 dead letters').waitFor();
    await letters.getByRole('button', { name: 'Send all again' }).click();
    await letters.getByText('There are none.').waitFor();
    await expect.poll(() => slack.messages.length).toBe(before + 3);
    await listed(page, 'team').getByText('Last delivered').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows a key its own receivers and those of the operator, and one that only reads no way to change them', async () => {
    await using stack = new AsyncDisposableStack();
    const served = async (scope: 'read' | 'capture') => {
      const keys = { apiKey: [SHOP.key, NEWS.key], isolateKeys: true, namedKeys: [{ ...SHOP, scope }, NEWS] };
      const app = await ui.serve(keys);
      stack.defer(() => app.close());
      return app.baseUrl;
    };
    const [writing, reading] = [await served('capture'), await served('read')];
    const logIn = async (at: string, key: string) => {
      const page = await ui.open(`${at}/ui/receivers`);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
      await listed(page, 'operator').waitFor();
      return page;
    };
    const page = await logIn(writing, SHOP.key);
    await page.getByRole('button', { name: 'Add a receiver' }).click();
    await page.getByRole('group', { name: 'New receiver' }).getByLabel('Webhook URL').fill(slack.url.href);
    await page.getByRole('button', { name: 'Add the receiver' }).click();
    await listed(page, 'slack').waitFor();
    const others = await logIn(writing, NEWS.key);
    expect(await others.getByRole('article').count()).toBe(1);
    const reader = await logIn(reading, SHOP.key);
    await listed(reader, 'slack').waitFor();
    expect(await reader.locator('main').getByRole('button').allInnerTexts()).toEqual(['Copy as curl']);
    const admin = await ui.open('/ui/receivers');
    await listed(admin, 'slack').getByText('shop', { exact: true }).waitFor();
    expect(await listed(admin, 'slack').getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete slack' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await listed(page, 'slack').waitFor({ state: 'detached' });
  });

  it('is used with keys alone, on a phone', async () => {
    const page = await ui.open('/ui/receivers', PHONE);
    await picture(page, 'phone-list');
    await page.getByRole('button', { name: 'Add a receiver' }).focus();
    await page.keyboard.press('Enter');
    const fields = page.getByRole('group', { name: 'New receiver' });
    await fields.getByLabel('Kind').focus();
    await page.keyboard.type('nt');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type(`http://127.0.0.1:${new URL(slack.origin).port}/prices`);
    await picture(page, 'phone-form');
    expect(await page.evaluate(OVERFLOW)).toBe(0);
    await page.keyboard.press('Enter');
    await listed(page, 'ntfy').waitFor();
    expect((await receivers())[1]).toMatchObject({ name: 'ntfy', kind: 'ntfy', is_own: true });
  });

  it('is accessible in all colours on all screens', async () => {
    await give('team');
    const id = await watching('team', 'operator');
    refuse(1);
    await run(id, '1 €');
    await expect.poll(async () => (await receivers())[1]?.dead).toBe(1);
    const page = await ui.open('/ui/receivers');
    await page.getByRole('button', { name: 'Dead letters of team' }).click();
    await page.getByRole('button', { name: /^Send again/ }).waitFor();
    await page.getByRole('button', { name: 'Add a receiver' }).click();
    await page.getByText('More').click();
    await expectAccessible(page);
    await page.goto(`${ui.app.baseUrl}/ui/watches/${id}`);
    await page.getByRole('checkbox', { name: /^operator/ }).waitFor();
    await page.getByRole('button', { name: 'Add a receiver' }).click();
    await expectAccessible(page);
    await page.goto(`${ui.app.baseUrl}/ui/watches`);
    await page.getByText('Tells team, operator when price changes').waitFor();
    await expectAccessible(page);
  });
});
