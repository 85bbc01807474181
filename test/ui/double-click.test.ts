import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { uiForSuite } from './ui-service.ts';

const Listed = z.object({ data: z.array(z.unknown()) });
const Captured = z.object({ data: z.object({ id: z.number() }) });
const SIGNING_KEY = 'a-signing-key-of-at-least-32-characters';

/** Clicks a button twice, and holds requests until the second click. Returns the requests that change something. */
async function clickTwice(page: Page, name: string): Promise<readonly string[]> {
  const changing: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && changing.push(request.url()));
  const clicked = Promise.withResolvers<void>();
  await page.route('**', async (route) => {
    await clicked.promise;
    await route.continue();
  });
  await page.getByRole('button', { name, exact: true }).dblclick();
  clicked.resolve();
  await page.unrouteAll({ behavior: 'wait' });
  return changing;
}

describe('a double click', () => {
  const site = siteForSuite();
  const ui = uiForSuite({ allowWebhooks: ['127.0.0.1'], allowTargets: ['127.0.0.0/8'] }, { signingKey: [SIGNING_KEY] });
  let id: number;
  beforeAll(async () => {
    const response = await ui.app.post('/screenshot', { url: site.url('/short') });
    ({ id } = Captured.parse(await response.json()).data);
  });

  const count = async (list: string) => Listed.parse(await (await ui.app.call(list)).json()).data.length;

  it.each([
    {
      makes: 'watch, in the list',
      at: () => '/ui/watches',
      fill: (page: Page) => page.getByLabel('Page', { exact: true }).fill(site.url('/short')),
      button: 'Watch',
      list: () => '/watches',
    },
    {
      makes: 'watch, in its form',
      at: () => '/ui/watches/new',
      fill: (page: Page) => page.getByLabel('Page', { exact: true }).fill(site.url('/short')),
      button: 'Watch',
      list: () => '/watches',
    },
    {
      makes: 'receiver',
      at: () => '/ui/receivers',
      fill: async (page: Page) => {
        await page.getByRole('button', { name: 'Add a receiver' }).click();
        await page.getByLabel('Kind').selectOption('ntfy');
        await page.getByLabel('URL of the topic').fill('http://127.0.0.1:1023/prices');
      },
      button: 'Add the receiver',
      list: () => '/receivers',
    },
    {
      makes: 'scan',
      at: () => '/ui/scans',
      fill: (page: Page) => page.getByLabel('Targets').fill(site.url('/short')),
      button: 'Scan',
      list: () => '/jobs',
    },
    {
      makes: 'shared link',
      at: () => `/ui/results/${id}`,
      fill: (page: Page) => page.getByRole('button', { name: 'Share' }).click(),
      button: 'Make a link',
      list: () => `/shares?capture=${id}`,
    },
    {
      makes: 'feed',
      at: () => '/ui/?host=example.com',
      fill: (page: Page) => page.getByRole('button', { name: 'Feed of this list' }).click(),
      button: 'Make a feed',
      list: () => '/feeds',
    },
  ])('makes one $makes', async ({ at, fill, button, list }) => {
    const before = await count(list());
    const page = await ui.open(at());
    await fill(page);
    const changing = await clickTwice(page, button);
    await expect.poll(() => count(list())).toBeGreaterThan(before);
    expect(changing).toHaveLength(1);
    expect(await count(list())).toBe(before + 1);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
