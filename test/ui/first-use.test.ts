import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OVERFLOW } from './axe.ts';
import { picturesOf, uiForSuite } from './ui-service.ts';

const PAGES = 5;
const ODD = 4;

/** The first tasks of a new user. */
describe('a first use of the web interface', () => {
  const ui = uiForSuite();
  let shop: Server;
  let base: string;

  beforeAll(async () => {
    shop = createServer(({ url }, response) => {
      response.setHeader('Content-Type', 'text/html');
      const isOdd = url === `/product/${ODD}`;
      const box = (colour: string) => `<div style="height:180px;margin:20px;background:${colour}"></div>`;
      response.end(
        isOdd
          ? '<meta name=viewport content="width=device-width"><title>Oops</title><h1 style="margin-top:300px">Something went wrong</h1>'
          : `<meta name=viewport content="width=device-width"><title>Product</title><h1>Product ${url}</h1>${box('teal')}${box('orange')}`,
      );
    });
    await once(shop.listen(0, '127.0.0.1'), 'listening');
    const address = shop.address();
    base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => void shop?.close());

  it.each([
    ['desktop', { width: 1280, height: 800 }],
    ['phone', { width: 390, height: 844 }],
  ])(
    'captures five pages as a phone, finds the one that differs and makes it again, on a %s',
    async (name, viewport) => {
      const page = await ui.open('/', { viewport });
      const picture = async (step: string) => {
        expect(await page.evaluate(OVERFLOW)).toBe(0);
        await picturesOf(name)(page, step);
      };
      await page.getByRole('link', { name: 'Capture' }).first().click();
      const urls = Array.from({ length: PAGES }, (_, at) => `${base}/product/${at + 1}`);
      await page.getByLabel('URL', { exact: true }).fill(urls.join('\n'));
      await page.getByLabel('Device', { exact: true }).selectOption('iPhone 15');
      await picture('1-form');
      await page.getByRole('button', { name: `Capture ${PAGES} pages` }).click();
      await page.getByText(`${PAGES} of ${PAGES} done, 1 looks different`).waitFor();
      const odd = page.locator('.batch-row', { hasText: 'looks different' });
      await odd.getByText(`/product/${ODD}`).waitFor();
      await picture('2-done');
      await odd.scrollIntoViewIfNeeded();
      await picture('3-odd');
      await odd.getByRole('link', { name: 'Again' }).click();
      await page.getByRole('heading', { name: 'Capture again' }).waitFor();
      expect(await page.getByLabel('Device', { exact: true }).inputValue()).toBe('iPhone 15');
      await page.getByRole('button', { name: 'Capture' }).click();
      await page.getByRole('link', { name: 'Open the capture' }).waitFor();
      await picture('4-again');
      await page.getByRole('link', { name: 'Open the capture' }).click();
      await page.locator('.canvas img').waitFor();
      await picture('5-capture');
      const [made] = await ui.app.service.results.page({ by: 'url', url: urls[ODD - 1] ?? '' }, 3);
      expect(made?.options).toMatchObject({ device: 'iPhone 15' });
      await page.goto(`${ui.app.baseUrl}/ui/`);
      await page.locator('.card img').first().waitFor();
      await picture('6-gallery');
      await page.getByText('Table', { exact: true }).click();
      await picture('7-table');
      await page.getByText('Alike', { exact: true }).click();
      await page.locator('.card-look').first().waitFor();
      await picture('8-alike');
    },
  );
});
