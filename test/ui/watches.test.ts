import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listening } from '../egress/listening.ts';
import { LOOKS, violations } from './axe.ts';
import { OVERFLOW, uiForSuite } from './ui-service.ts';

describe('the watches view', () => {
  const ui = uiForSuite();
  let site: Listening;
  let words = 'The ferry sails at nine.';

  beforeAll(async () => {
    site = await listening(
      createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end(`<!doctype html><title>Harbour</title><h1>Harbour</h1><p>${words.repeat(40)}`);
      }),
    );
  });
  afterAll(() => site?.[Symbol.asyncDispose]());

  it('adds a watch, runs it, shows what changed, pauses it and deletes it', async () => {
    const url = `http://127.0.0.1:${site.port}/ferry`;
    const page = await ui.open('/ui/watches');
    await page.getByText('No page is watched').waitFor();
    await page.getByLabel('Page').fill(url);
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    const watch = page.getByRole('article', { name: url });
    await watch.getByText('first', { exact: true }).waitFor();
    words = 'The ferry does not sail.';
    await watch.getByRole('button', { name: 'Run' }).click();
    await watch.getByText('changed', { exact: true }).waitFor();
    await expect.poll(() => watch.locator('.film li').count()).toBe(2);
    await watch.getByRole('button', { name: 'Pause' }).click();
    await watch.getByText('paused').waitFor();
    expect(await violations(page)).toEqual([]);
    await watch.locator('.film .changed a').click();
    await expect.poll(() => page.url()).toMatch(/\/ui\/compare\?a=\d+&b=\d+/);
    await page.goBack();
    await watch.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No page is watched').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('names what is wrong with the page', async () => {
    const page = await ui.open('/ui/watches');
    await page.getByLabel('Page').fill('ftp://example.com');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('alert').getByText('ftp').waitFor();
  });

  it.each(LOOKS)('is accessible in %s colours on a screen of %j', async (colorScheme, viewport) => {
    const page = await ui.open('/ui/watches', { colorScheme, viewport });
    await page.getByText('No page is watched').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(OVERFLOW)).toBe(0);
  });
});
