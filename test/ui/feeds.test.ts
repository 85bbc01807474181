import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { expectAccessible } from './axe.ts';
import { PHONE, picturesOf, uiForSuite } from './ui-service.ts';

const Made = z.object({ data: z.object({ id: z.number() }) });

const picture = picturesOf('feeds');

describe('feeds in the web interface', () => {
  const site = siteForSuite();
  const ui = uiForSuite({}, { signingKey: ['a-signing-key-of-at-least-32-characters'] });

  const dialogOf = async (page: Page, button: string) => {
    await page.getByRole('button', { name: button }).click();
    return page.getByRole('dialog', { name: 'Feed' });
  };

  it('makes a feed of a watch, shows its URL to copy, lets browsers find it, and revokes it', async () => {
    const url = site.url('/short');
    const added = await ui.app.post('/watches', { url, every: '300d' });
    const { id } = Made.parse(await added.json()).data;
    for (const [name, options] of [
      ['desktop', {}],
      ['phone', PHONE],
    ] as const) {
      const page = await ui.open('/ui/watches', options);
      await page.getByRole('button', { name: 'Feed of' }).waitFor();
      await picture(page, `watches-${name}`);
      const dialog = await dialogOf(page, 'Feed of');
      await dialog.getByRole('button', { name: 'Make a feed' }).click();
      const shown = dialog.getByRole('listitem');
      await expect.poll(() => shown.count()).toBe(1);
      const link = await shown.locator('pre').innerText();
      await expectAccessible(page);
      await picture(page, `dialog-${name}`);
      const feed = await fetch(link);
      expect(await feed.text()).toContain(`<title>Changes of ${url}</title>`);
      const alternates = page.locator('head link[rel=alternate]');
      expect(await alternates.evaluateAll((all) => all.map((each) => each.getAttribute('type')))).toEqual([
        'application/atom+xml',
        'application/feed+json',
      ]);
      await dialog.getByRole('button', { name: 'Revoke' }).click();
      await expect.poll(() => shown.count()).toBe(0);
      expect(await alternates.count()).toBe(0);
      expect((await fetch(link)).status).toBe(404);
    }
    await ui.app.call(`/watches/${id}`, { method: 'DELETE' });
    expect(ui.complaints).toEqual([]);
  });

  it('makes feeds of a label and of a search in the gallery, and none of all captures', async () => {
    for (const [query, source] of [
      ['label=lamps', { label: 'lamps' }],
      ['label=lamps&status=404', { search: { label: 'lamps', status: '404' } }],
    ] as const) {
      const page = await ui.open(`/ui/?${query}`, PHONE);
      const dialog = await dialogOf(page, 'Feed of this list');
      await dialog.getByRole('button', { name: 'Make a feed' }).click();
      await expect.poll(() => dialog.getByRole('listitem').count()).toBe(1);
      await picture(page, `gallery-${Object.keys(source).join()}`);
      const [feed] = z
        .object({ data: z.array(z.looseObject({})) })
        .parse(await (await ui.app.call('/feeds?limit=1')).json()).data;
      expect(feed).toMatchObject(source);
    }
    const page = await ui.open('/ui/?label=lamps');
    await page.getByRole('button', { name: 'Feed of this list' }).waitFor();
    await picture(page, 'gallery-desktop');
    const all = await ui.open('/ui/');
    await all.getByRole('link', { name: 'Capture' }).first().waitFor();
    expect(await all.getByRole('button', { name: 'Feed' }).count()).toBe(0);
    expect(ui.complaints).toEqual([]);
  });
});
