import { createServer } from 'node:http';
import type { Locator, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { expectAccessible, OVERFLOW } from './axe.ts';
import { picturesOf, uiForSuite } from './ui-service.ts';
import { watchesOf } from './watches-of.ts';

/** Places on the page of the shop, which is as wide as the screenshot. */
const WIDTH = 800;
const SHOP = { viewport: { width: WIDTH, height: 600 } };
const PRICE = { x: 620, y: 110 };

const shop = (price: string): string => `<!doctype html><html lang="de"><title>Lampe</title>
<script type="application/ld+json">{"@type":"Product","name":"Lampe","offers":{"@type":"Offer","availability":"https://schema.org/InStock"}}</script>
<body style="margin:0;font:20px sans-serif"><h1>Die Hafenlampe aus Messing</h1>
<p style="margin:0;position:absolute;left:400px;top:100px"><s>79,00 €</s> <b id="now" style="position:absolute;left:160px;top:0;width:150px;background:#fd6">${price}</b></p>
<p style="margin-top:150px">${'Sie leuchtet vierzig Stunden lang. '.repeat(20)}</p>`;

const picture = picturesOf('values');

describe('values of watches in the web interface', () => {
  const ui = uiForSuite();
  const { all, read, add, run } = watchesOf(ui);
  let site: Listening;
  let price = '59,00 €';

  beforeAll(async () => {
    site = await listening(
      createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(shop(price));
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());
  afterEach(() => {
    price = '59,00 €';
  });

  const url = () => `http://127.0.0.1:${site.port}/`;
  const watching = (body: object) => add({ url: url(), ...SHOP, ...body });
  const value = (page: Page, name: string): Locator => page.getByRole('group', { name: `Value ${name}`, exact: true });
  const reading = (page: Page, name: string) => value(page, name).getByRole('status');

  it('reads a price that is pointed at in the screenshot, and tells when it falls below a number', async () => {
    const page = await ui.open(`/ui/watches/new?url=${encodeURIComponent(url())}`);
    await page.getByRole('button', { name: 'Capture the page' }).click();
    const stage = page.getByRole('application');
    await page.locator('.stage[aria-busy=false]').waitFor();
    await page.getByText('Value', { exact: true }).first().click();
    const { width: drawn = WIDTH } = (await stage.boundingBox()) ?? {};
    // The window of a capture is 1280 wide unless it is told.
    const scale = drawn / 1280;
    await stage.click({ position: { x: PRICE.x * scale, y: PRICE.y * scale } });
    await expect.poll(() => page.locator('.mark-read').count()).toBe(1);
    await expect.poll(() => reading(page, 'price').innerText()).toBe('In the screenshot: “59,00 €”');
    expect(await page.getByRole('checkbox', { name: 'Screenshot' }).isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Capture again, and read the values' }).click();
    await expect.poll(() => reading(page, 'price').innerText()).toBe('Reads €59.00 from “59,00 €”');

    await page.getByRole('button', { name: 'Add a value' }).click();
    await value(page, '2').getByLabel('Name').fill('stock');
    await value(page, 'stock').getByLabel('From').selectOption('Metadata');
    await value(page, 'stock').getByLabel('Path').fill('Product.offers.availability');
    await value(page, 'stock').getByLabel('Read as').selectOption('Text');
    for (const [at, against] of ['50', 'InStock'].entries()) {
      await page.getByRole('button', { name: 'Add a condition' }).click();
      const condition = page.getByRole('group', { name: `Condition ${at + 1}` });
      if (at === 1) {
        await condition.getByRole('combobox', { name: 'Value' }).selectOption('stock');
        await condition.getByRole('combobox', { name: 'Condition' }).selectOption('is');
      }
      await condition.getByRole('textbox', { name: 'Than or to' }).fill(against);
    }
    await picture(page, 'form');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('article', { name: url() }).getByText('€59.00').waitFor();
    const [watch] = await all();
    expect(watch?.values).toMatchObject({
      price: { selector: '#now', type: 'money' },
      stock: { metadata: 'Product.offers.availability', type: 'text' },
    });
    expect(watch?.when).toMatchObject({
      all: [
        { value: 'price', below: 50 },
        { value: 'stock', equals: 'InStock' },
      ],
    });
    expect(watch?.compare).toMatchObject({ visual: false });

    price = '47,50 €';
    await run(watch?.id ?? 0);
    expect((await read(watch?.id ?? 0)).last_run).toMatchObject({ state: 'changed', changed: ['values'] });
    expect(ui.complaints).toEqual([]);
  });

  it('shows the history of values as a chart with its thresholds, as a table and as CSV', async () => {
    const values = { price: { selector: '#now', type: 'money' }, title: 'h1' };
    const id = await watching({ values, when: { any: [{ value: 'price', below: 50 }] } });
    for (const next of ['47,50 €', 'Preis auf Anfrage', '62,00 €']) {
      price = next;
      await run(id);
    }
    const page = await ui.open('/ui/watches');
    await page.getByRole('link', { name: 'History of the values of' }).click();
    const chart = page.getByRole('img', { name: /^price:/ });
    expect(await chart.getAttribute('aria-label')).toBe(
      'price: €62.00 now, from €47.50 to €62.00 in 4 runs, threshold €50.00',
    );
    expect(await page.locator('.value-change').count()).toBe(1);
    const cells = page.locator('tbody tr td:nth-child(3)');
    await expect
      .poll(() => cells.allInnerTexts())
      .toEqual(['€62.00 “62,00 €”', 'cannot be read: “Preis auf Anfrage”', '€47.50 “47,50 €”', '€59.00 “59,00 €”']);
    await picture(page, 'history');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`values-${id}.csv`);
    await page.locator('tbody a').first().click();
    await expect.poll(() => page.url()).toMatch(/\/ui\/results\/\d+/);
    expect(ui.complaints).toEqual([]);
  });

  it('shows what the captures before have where a value is read', async () => {
    const id = await watching({
      values: { price: { selector: '#now', type: 'money' }, lines: { selector: 'p', type: 'count' } },
    });
    const page = await ui.open(`/ui/watches/${id}`);
    await page.locator('.mark-read').first().waitFor();
    expect(await page.getByText('In the captures before').count()).toBe(0);
    for (const [next, before] of [
      ['47,50 €', '“59,00 €”'],
      ['Preis auf Anfrage', '“47,50 €”, “59,00 €”'],
    ] as const) {
      price = next;
      await run(id);
      await page.reload();
      await value(page, 'price').getByText(`In the captures before: ${before}`, { exact: true }).waitFor();
    }
    await value(page, 'lines').getByText('In the captures before: 2, 2').waitFor();
    await value(page, 'price').getByLabel('Selector').fill('s');
    await value(page, 'price').getByText('In the captures before: “79,00 €”, “79,00 €”').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('is used with keys alone, on a phone', async () => {
    const id = await watching({
      values: { cost: { selector: 'h1', type: 'money' } },
      when: { value: 'cost', fell: '5%' },
    });
    const page = await ui.open(`/ui/watches/${id}`, { viewport: { width: 390, height: 800 } });
    await expect
      .poll(() => reading(page, 'cost').innerText())
      .toBe('“Die Hafenlampe aus Messing” cannot be read as a price.');
    await page.locator('.stage[aria-busy=false]').waitFor();
    await value(page, 'cost').getByRole('button', { name: 'Point at it' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('application').focus();
    const pointed = page.locator('#stage-status code');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await expect.poll(() => pointed.innerText()).toBe('#now');
    await page.keyboard.press('Enter');
    expect(await value(page, 'cost').getByLabel('Selector').inputValue()).toBe('#now');
    const by = page.getByRole('textbox', { name: 'By at least' });
    expect(await by.inputValue()).toBe('5%');
    await by.fill('10 %');
    await picture(page, 'phone');
    const [drawn, stage] = [page.locator('.stage img'), page.getByRole('application')];
    expect((await drawn.boundingBox())?.width).toBe((await stage.boundingBox())?.width);
    expect(await page.evaluate(OVERFLOW)).toBe(0);
    await by.press('Enter');
    await page.getByRole('article', { name: url() }).waitFor();
    const { values, when } = await read(id);
    expect([values, when]).toMatchObject([
      { cost: { selector: '#now', type: 'money' } },
      { value: 'cost', fell: '10%' },
    ]);
  });

  it('keeps conditions that it cannot show, and says what the service refuses', async () => {
    const nested = { all: [{ value: 'price', below: 50 }, { any: [{ value: 'price', fell: true }] }] };
    const id = await watching({ values: { price: { selector: '#now', type: 'money' } }, when: nested });
    const page = await ui.open(`/ui/watches/${id}`);
    await page.getByText('written through the API').waitFor();
    await value(page, 'price').getByLabel('Name').fill('not a name');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('values').waitFor();
    await value(page, 'not a name').getByRole('textbox', { name: 'Name' }).fill('price');
    await value(page, 'price').getByLabel('Selector').fill('b');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: url() }).waitFor();
    expect(await read(id)).toMatchObject({ values: { price: { selector: 'b' } }, when: nested });
  });

  it('is accessible in all colours on all screens', async () => {
    const values = { price: { selector: '#now', type: 'money' }, title: 'h1' };
    const id = await watching({ values, when: { value: 'price', below: 50, hysteresis: 2 } });
    price = '47,50 €';
    await run(id);
    const page = await ui.open(`/ui/watches/${id}`);
    await expect.poll(() => page.locator('.mark-read').count()).toBe(2);
    await expectAccessible(page);
    await page.goto(page.url().replace(/$/, '/values'));
    await page.locator('.value-change').waitFor();
    await expectAccessible(page);
  });
});
