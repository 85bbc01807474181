import type { Page } from 'playwright';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { resultOf } from '../http/stored-capture.ts';
import { putCapture } from '../storage/put-capture.ts';
import { expectAccessible, OVERFLOW } from './axe.ts';
import { picturesOf, SCREENS, uiForSuite } from './ui-service.ts';

const Listed = z.object({ data: z.array(z.object({ id: z.number() })) });
const takePicture = picturesOf('labels');
/** Each has three captures. */
const HOSTS = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example'];

describe('labels of several captures in the gallery', () => {
  const ui = uiForSuite();
  const count = 120;

  beforeAll(async () => {
    const image = await sharp({ create: { width: 64, height: 36, channels: 3, background: '#8ac' } })
      .png()
      .toBuffer();
    for (let at = 0; at < count; at += 1) {
      const host = HOSTS[Math.floor(at / 3)] ?? 'many.example';
      const artifacts = { store: await ui.app.service.artifacts.id(), kinds: ['image'] as const };
      const result = resultOf(at + 1, { title: `Page ${at % 3}`, host, artifacts });
      await putCapture(ui.app.service.artifacts, result, { image, html: '' });
      await ui.app.service.results.insert(result);
    }
  });

  const labelled = async (label: string) => {
    const response = await ui.app.call(`/results?label=${encodeURIComponent(label)}&limit=1000`);
    return Listed.parse(await response.json()).data.length;
  };
  const dialog = (page: Page) => page.getByRole('dialog');
  const badges = (page: Page, label: string) => page.locator('.card').getByText(label, { exact: true }).count();

  it.each(SCREENS)('are added to those that were selected, by the keyboard alone, %s', async (screen, options) => {
    const isWide = Object.keys(options).length === 0;
    const label = `keys ${isWide}`;
    const page = await ui.open(`/ui/?host=${isWide ? 'a' : 'b'}.example`, options);
    await page.locator('.card-link').nth(2).waitFor();
    for (const key of ['ArrowRight', 'x', 'ArrowRight', 'x']) {
      await page.keyboard.press(key);
      if (key !== 'x') await expect.poll(() => page.evaluate('document.activeElement.className')).toBe('card-link');
    }
    await page.getByText('2 selected').waitFor();
    await takePicture(page, `selected ${screen}`);
    await page.keyboard.press('l');
    await dialog(page).getByLabel('Labels').waitFor();
    await page.keyboard.type(label);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('2 captures changed.').waitFor();
    await takePicture(page, `dialog ${screen}`);
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await expect.poll(() => badges(page, label)).toBe(2);
    expect(await labelled(label)).toBe(2);
    expect(ui.complaints).toEqual([]);
  });

  it.each(SCREENS)('are added and removed by the mouse, %s', async (_, options) => {
    const isWide = Object.keys(options).length === 0;
    const label = `mouse ${isWide}`;
    const page = await ui.open(`/ui/?host=${isWide ? 'c' : 'd'}.example`, options);
    for (const at of [0, 2]) await page.getByRole('button', { name: `Select Page ${at}` }).click();
    await page.getByRole('button', { name: 'Label', exact: true }).click();
    await dialog(page).getByLabel('Labels').fill(`${label}, other`);
    await dialog(page).getByRole('button', { name: 'Add' }).click();
    await dialog(page).getByText('2 captures changed.').waitFor();
    await dialog(page).getByLabel('Labels').fill('other');
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => labelled('other')).toBe(0);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => badges(page, label)).toBe(2);
    expect(await labelled(label)).toBe(2);
  });

  it.each(SCREENS)('are added to all that match, more than the list has loaded, %s', async (screen, options) => {
    const label = `all ${Object.keys(options).length}`;
    const page = await ui.open('/ui/?host=many.example', options);
    await page.locator('.card').first().waitFor();
    await takePicture(page, `filtered ${screen}`);
    await page.getByRole('button', { name: 'Label all' }).press('Enter');
    await dialog(page).getByLabel('Labels').waitFor();
    await page.keyboard.type(label);
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByText(`${count - 15} captures changed.`)
      .waitFor();
    await takePicture(page, `all ${screen}`);
    await page.keyboard.press('Escape');
    await expect.poll(() => badges(page, label)).toBeGreaterThan(0);
    expect(await labelled(label)).toBe(count - 15);
    expect(ui.complaints).toEqual([]);
  });

  it('says which captures could not be changed, and why', async () => {
    const page = await ui.open('/ui/?host=e.example');
    await page.getByRole('button', { name: 'Select Page 0' }).click();
    await page.getByRole('button', { name: 'Label', exact: true }).click();
    await dialog(page)
      .getByLabel('Labels')
      .fill(Array.from({ length: 20 }, (_, at) => `many ${at}`).join());
    await dialog(page).getByRole('button', { name: 'Add' }).click();
    await dialog(page).getByText('1 capture changed.').waitFor();
    await dialog(page).getByLabel('Labels').fill('one more');
    await dialog(page).getByRole('button', { name: 'Add' }).click();
    await dialog(page).getByText('0 captures changed.').waitFor();
    await dialog(page).getByText('at most 20 labels').waitFor();
  });

  it('have a dialog without accessibility violations', async () => {
    const page = await ui.open('/ui/?host=e.example');
    await page.getByRole('button', { name: 'Select Page 0' }).click();
    await page.getByText('1 selected').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Label', exact: true }).click();
    await dialog(page).waitFor();
    await expectAccessible(page);
  });
});
