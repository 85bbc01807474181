import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';
import { watchesOf } from './watches-of.ts';

describe('a tab that was hidden before any event came', () => {
  const site = siteForSuite();
  const ui = uiForSuite({ allowWebhooks: ['127.0.0.1'] });
  const watches = watchesOf(ui);

  const turn = (page: Page, state: 'hidden' | 'visible') =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
      document.dispatchEvent(new Event('visibilitychange'))`);

  it('shows the captures that were made meanwhile', async () => {
    const page = await ui.open('/ui/');
    await page.getByText('No captures yet').waitFor();
    await turn(page, 'hidden');
    await ui.app.post('/screenshot', { url: site.url('/lighthouse') });
    await turn(page, 'visible');
    await page.getByText('The lighthouse').waitFor();
  });

  it('shows the watches that were added meanwhile', async () => {
    const page = await ui.open('/ui/watches');
    await page.getByText('No page is watched').waitFor();
    await turn(page, 'hidden');
    await watches.add({ url: site.url('/lighthouse') });
    await turn(page, 'visible');
    await page.getByRole('article', { name: site.url('/lighthouse') }).waitFor();
  });

  it('shows the receivers that were added meanwhile', async () => {
    const page = await ui.open('/ui/receivers');
    await page.getByText('No receivers').waitFor();
    await turn(page, 'hidden');
    const receiver = { name: 'team', kind: 'ntfy', address: 'http://127.0.0.1:1023/prices' };
    expect((await ui.app.post('/receivers', receiver)).status).toBe(201);
    await turn(page, 'visible');
    await page.getByRole('article', { name: 'team' }).waitFor();
  });
});
