import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { targetOf } from '../http/answers.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { expectAccessible, OVERFLOW } from './axe.ts';
import { PHONE, SCREENS, uiForSuite } from './ui-service.ts';

const Captured = z.object({ data: z.object({ id: z.number() }) });
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';

describe('labels, holds and links in the web interface', () => {
  const site = siteForSuite();
  const ui = uiForSuite({}, { signingKey: [SIGNING_KEY] });
  let id: number;
  let other: number;

  const capture = async (path: string, options = {}) => {
    const response = await ui.app.post('/screenshot', { url: site.url(path), evidence: 'all', ...options });
    return Captured.parse(await response.json()).data.id;
  };

  beforeAll(async () => {
    id = await capture('/title?t=Harbour', { labels: ['ferry'] });
    other = await capture('/title?t=Lamp');
  });

  const panel = (page: Page) => page.locator('section.marks');

  it.each(SCREENS)('labels a capture by keyboard, and finds it by its label, %s', async (_, options) => {
    const label = `case ${Object.keys(options).length}`;
    const page = await ui.open(`/ui/results/${id}`, options);
    await panel(page).getByRole('link', { name: 'ferry' }).waitFor();
    await panel(page).getByLabel('New label').focus();
    await page.keyboard.type(label);
    await page.keyboard.press('Enter');
    await panel(page).getByRole('link', { name: label }).waitFor();
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
    await panel(page).getByRole('link', { name: label }).press('Enter');
    await page.waitForURL('**/ui/?label=*');
    await page.locator(`a[href="/ui/results/${id}"]`).waitFor();
    expect(await page.locator('.card').count()).toBe(1);
    const filter = page.getByLabel('Label', { exact: true });
    expect(await filter.inputValue()).toBe(label);
    if (!(await filter.isVisible())) await page.getByRole('button', { name: 'Filters (1)' }).press('Enter');
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
    await filter.fill('fer');
    await expect
      .poll(() => page.locator('datalist option').evaluateAll((all) => all.map((one) => Reflect.get(one, 'value'))))
      .toEqual(['ferry']);
    expect(ui.complaints).toEqual([]);
  });

  it('removes a label, saves a note, and holds the capture until the hold is lifted', async () => {
    const page = await ui.open(`/ui/results/${other}`);
    await panel(page).getByLabel('New label').fill('a, b');
    await panel(page).getByRole('button', { name: 'Add' }).click();
    await panel(page).getByRole('button', { name: 'Remove the label a' }).click();
    await panel(page).getByRole('link', { name: 'a', exact: true }).waitFor({ state: 'detached' });
    await panel(page).getByLabel('Note').fill('For Ana');
    await panel(page).getByRole('button', { name: 'Save the note' }).click();
    await panel(page).getByRole('button', { name: 'Save the note' }).waitFor({ state: 'detached' });
    await panel(page).getByRole('button', { name: 'Hold', exact: true }).click();
    await panel(page).getByText('it is not removed').waitFor();
    const record = await ui.app.call(`/results/${other}`);
    expect(await record.json()).toMatchObject({ data: { labels: ['b'], note: 'For Ana', hold: { by: '' } } });
    await page.getByRole('button', { name: 'Delete the capture' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('kept by a hold').waitFor();
    await page.keyboard.press('Escape');
    await panel(page).getByRole('button', { name: 'Lift the hold' }).click();
    await panel(page).getByText('it is not removed').waitFor({ state: 'detached' });
  });

  it('makes a link, shows what it leads to without a key, and revokes it', async () => {
    const page = await ui.open(`/ui/results/${id}`, PHONE);
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByLabel('For').selectOption('1 day');
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const link = (await dialog.getByRole('listitem').locator('pre').textContent()) ?? '';
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
    const shared = await ui.open(link, PHONE);
    await shared.getByRole('heading', { name: 'Harbour' }).waitFor();
    const width = () => shared.locator('img').evaluate((image) => Reflect.get(image, 'naturalWidth'));
    await expect.poll(width).toBe(1280);
    await shared.getByText('Response headers').press('Enter');
    await shared.getByRole('cell', { name: 'content-type', exact: true }).waitFor();
    await shared.getByText('SHA-256').waitFor();
    // The page has no script: the one that its sandbox blocks is Playwright's.
    expect(ui.complaints.filter((text) => !text.includes('Blocked script execution'))).toEqual([]);
    expect(await shared.evaluate(OVERFLOW)).toBeLessThanOrEqual(0);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('listitem').waitFor({ state: 'detached' });
    expect((await ui.app.call(targetOf(link))).status).toBe(404);
  });

  it('shares a comparison', async () => {
    const page = await ui.open(`/ui/compare?a=${other}&b=${id}`);
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    const link = (await dialog.getByRole('listitem').locator('pre').textContent()) ?? '';
    const shared = await ui.open(link);
    await shared.getByRole('heading', { name: /^What changed/ }).waitFor();
    const widths = () =>
      shared.locator('img').evaluateAll((all) => all.map((image) => Reflect.get(image, 'naturalWidth') > 0));
    await expect.poll(widths).toEqual([true, true, true]);
    expect(ui.complaints).toEqual([]);
  });

  it('has no accessibility violations', async () => {
    const page = await ui.open(`/ui/results/${id}`);
    await panel(page).getByLabel('New label').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByRole('dialog', { name: 'Share' }).waitFor();
    await expectAccessible(page);
  });
});
