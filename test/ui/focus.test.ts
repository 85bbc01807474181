import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';

const Captured = z.object({ data: z.object({ id: z.number() }) });

describe('the focus, when what has it is removed,', () => {
  const site = siteForSuite();
  const ui = uiForSuite(
    { allowWebhooks: ['127.0.0.1'], notify: ['operator=ntfy:http://127.0.0.1:1023/prices'] },
    { signingKey: ['a-signing-key-of-at-least-32-characters'] },
  );

  let id: number;

  beforeAll(async () => {
    const captured = await ui.app.post('/screenshot', { url: site.url('/short') });
    id = Captured.parse(await captured.json()).data.id;
  });

  const focused = (page: Page) =>
    page.evaluate<string>(`(({ activeElement: { ariaLabel, textContent, localName } }) =>
      localName === 'body' ? 'nothing' : ariaLabel ?? textContent)(document)`);

  /** Deletes by the keyboard alone. */
  async function remove(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name, exact: true }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('button', { name, exact: true }).waitFor({ state: 'detached' });
  }

  it('moves to the next watch, the one before, and the heading', async () => {
    const [one, two, three] = [1, 2, 3].map((at) => `${site.url('/short')}?${at}`);
    for (const url of [one, two, three]) {
      const watch = { url, every: '300d', viewport: { width: 64, height: 64 } };
      expect((await ui.app.post('/watches', watch)).status).toBe(201);
    }
    const page = await ui.open('/ui/watches');
    const rows = page.getByRole('article');
    await expect.poll(() => rows.count()).toBe(3);
    const [first, second, third] = await rows.evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel));
    const row = () => rows.filter({ has: page.locator(':focus') }).getAttribute('aria-label', { timeout: 5000 });
    await remove(page, `Delete ${second}`);
    expect(await row()).toBe(third);
    await remove(page, `Delete ${third}`);
    expect(await row()).toBe(first);
    await remove(page, `Delete ${first}`);
    await expect.poll(() => focused(page)).toBe('Watches');
  });

  it('stays where a person has put it, on nothing, when the element is removed that had it before', async () => {
    const page = await ui.open('/ui/watches');
    await page.getByRole('heading', { name: 'Watches' }).waitFor();
    const rest = await page.evaluate<string>(`(async () => {
      const main = document.querySelector('main');
      const list = main.appendChild(document.createElement('ul'));
      const [row] = [1, 2].map(() =>
        list.appendChild(document.createElement('li')).appendChild(document.createElement('button')),
      );
      row.focus();
      row.blur();
      await new Promise((done) => setTimeout(done, 50));
      row.parentElement.remove();
      await new Promise((done) => setTimeout(done, 50));
      return document.activeElement.localName;
    })()`);
    expect(rest).toBe('body');
  });

  it('moves to another receiver, and back to the button of a dialog that was left', async () => {
    const team = { name: 'team', kind: 'ntfy', address: 'http://127.0.0.1:1023/team' };
    expect((await ui.app.post('/receivers', team)).status).toBe(201);
    const page = await ui.open('/ui/receivers');
    await page.getByRole('button', { name: 'Delete team' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Delete team');
    await remove(page, 'Delete team');
    await expect.poll(() => focused(page)).toBe('Send a test to operator');
  });

  it('moves to another link of the dialog, and to its heading', async () => {
    const page = await ui.open(`/ui/results/${id}`);
    await page.getByRole('button', { name: 'Share' }).press('Enter');
    const dialog = page.getByRole('dialog');
    const links = dialog.getByRole('listitem');
    for (const [count, days] of [
      [1, '1 day'],
      [2, '7 days'],
    ] as const) {
      await dialog.getByLabel('For').selectOption(days);
      await dialog.getByRole('button', { name: 'Make a link' }).press('Enter');
      await expect.poll(() => links.count()).toBe(count);
    }
    const left = await links.last().locator('pre').textContent();
    await links.first().getByRole('button', { name: 'Revoke' }).press('Enter');
    await expect.poll(() => links.count()).toBe(1);
    const ofLink = links.filter({ has: page.locator(':focus') });
    expect(await ofLink.locator('pre').textContent()).toBe(left);
    await ofLink.getByRole('button', { name: 'Revoke' }).press('Enter');
    await expect.poll(() => links.count()).toBe(0);
    await expect.poll(() => focused(page)).toBe('Share');
    expect(await page.evaluate('document.activeElement.localName')).toBe('h2');
  });

  it('moves to the heading of the view that a link leads to', async () => {
    const page = await ui.open('/ui/');
    await page.locator('.card-link').first().press('Enter');
    await page.waitForURL('**/ui/results/*');
    await expect.poll(() => page.evaluate('document.activeElement.localName')).toBe('h1');
  });
});
