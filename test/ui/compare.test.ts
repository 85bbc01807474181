import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { putCapture } from '../storage/put-capture.ts';
import { exampleResult } from '../support/example-result.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

const BEFORE = 340_000_000_000_000;
const AFTER = 341_000_000_000_000;
const TALL = 339_000_000_000_000;
const SIDE = 100;

describe('the comparison of two captures', () => {
  const ui = uiForSuite();

  /** Stores a capture of a white square with a black square in its corner, which is `dark` pixels wide. */
  async function keep(id: number, dark: number, height = SIDE) {
    const record = exampleResult(id, {
      title: height === SIDE ? `Capture with ${dark}` : 'Tall capture',
      artifacts: { store: 'here', kinds: ['image', 'html'] },
      width: SIDE,
      height,
    });
    const square = { create: { width: dark, height: dark, channels: 3 as const, background: '#000' } };
    const image = await sharp({ create: { width: SIDE, height, channels: 3, background: '#fff' } })
      .composite([{ input: await sharp(square).png().toBuffer(), top: 0, left: 0 }])
      .png()
      .toBuffer();
    await putCapture(ui.app.service.artifacts, record, { image, html: '' });
    await ui.app.service.results.insert(record);
  }

  beforeAll(async () => {
    await keep(BEFORE, 10);
    await keep(AFTER, 30);
    await keep(TALL, 10, 4 * SIDE);
  });

  it('shows both captures side by side', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${AFTER}`);
    await expect.poll(() => page.locator('.compare-pair img').count()).toBe(2);
    expect(ui.complaints).toEqual([]);
  });

  it('moves the slider between the captures with keys', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${AFTER}`);
    await page.getByText('Slider', { exact: true }).click();
    await page.getByRole('slider').focus();
    await page.keyboard.press('Home');
    const clip = () => page.locator('.compare-after').evaluate((element) => Reflect.get(element, 'style').clipPath);
    await expect.poll(clip).toBe('inset(0px 0px 0px 0%)');
    await page.keyboard.press('End');
    await expect.poll(clip).toBe('inset(0px 0px 0px 100%)');
  });

  it('marks what the service finds different, and shows its share of the pixels', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${AFTER}`);
    await page.getByText('Difference', { exact: true }).click();
    // The black square has 30 by 30 pixels, of which 10 by 10 were black before.
    await page.getByText('8.00 %').waitFor();
    const places = await page.locator('.region').evaluateAll((marks) =>
      marks.map((mark) => {
        const image = mark.parentElement?.querySelector('img')?.getBoundingClientRect();
        const { right, bottom } = mark.getBoundingClientRect();
        return image === undefined ? [] : [(right - image.left) / image.width, (bottom - image.top) / image.height];
      }),
    );
    expect(places.length).toBeGreaterThan(0);
    for (const [right = 1, bottom = 1] of places) {
      expect(right).toBeCloseTo(0.3);
      expect(bottom).toBeCloseTo(0.3);
    }
    expect(ui.complaints).toEqual([]);
  });

  it('marks what is longer as inserted', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${TALL}`);
    await page.getByText('Difference', { exact: true }).click();
    await page.locator('.region.region-inserted').first().waitFor();
  });

  it('shows a difference of 0 % between a capture and itself', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${BEFORE}`);
    await page.getByText('Difference', { exact: true }).click();
    await page.getByText('0 %', { exact: true }).waitFor();
  });

  it('compares two captures that were chosen in the gallery', async () => {
    const page = await ui.open('/ui/');
    await page.getByRole('button', { name: 'Select Capture with 30' }).click();
    await page.getByRole('button', { name: 'Select Capture with 10' }).click();
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await expect.poll(() => page.locator('.compare-pair img').count()).toBe(2);
  });

  it('offers other captures of the same URL when one side is missing', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}`);
    await page.getByText('Choose the capture after: the same URL').waitFor();
    await page.locator('.choices .card').first().click();
    await page.waitForURL(`**/ui/compare?a=${BEFORE}&b=${AFTER}`);
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open(`/ui/compare?a=${BEFORE}&b=${AFTER}`);
    for (const way of ['Side by side', 'Slider', 'Difference']) {
      await page.getByText(way, { exact: true }).click();
      await page.locator('.compare .canvas').first().waitFor();
      await expectAccessible(page);
    }
  });
});
