import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Hosts, startHosts, titledPage } from '../scans/hosts.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

describe('the scans view', () => {
  const ui = uiForSuite({ allowTargets: ['127.0.0.0/8'] });
  let hosts: Hosts;
  beforeAll(async () => {
    hosts = await startHosts((request, response) => {
      if (request.url !== '/other') return titledPage(request, response);
      response.writeHead(200, { 'Content-Type': 'text/html' });
      return void response.end(
        '<title>Other</title><body style="background:linear-gradient(90deg,#000,#fff)"><h1>Other',
      );
    });
  });
  afterAll(() => hosts?.[Symbol.asyncDispose]());

  it('takes a list, shows what it gave and its progress, and leads to the captures, alike ones folded', async () => {
    const page = await ui.open('/ui/scans');
    await expectAccessible(page);
    await page
      .getByLabel('Targets')
      .fill(`127.0.0.2-4\nhttp://127.0.0.5:${hosts.port}/other\n127.0.0.6:${hosts.closedPort}\nbad line`);
    await page.getByLabel('Ports').fill(String(hosts.port));
    await page.getByRole('button', { name: 'Scan', exact: true }).click();
    await expect.poll(() => page.getByRole('status').innerText()).toContain('5 targets; left out: 1 invalid');
    expect(await page.getByText('Line 4:').innerText()).toContain('has blanks');
    const row = page.getByRole('region', { name: 'Scan of 5 targets' });
    // The scan is completed after its last target.
    await expect.poll(() => row.innerText()).toMatch(/5 of 5 done[\s\S]*completed/);
    expect(await row.innerText()).toMatch(/4 captured[\s\S]*not captured: 1 target unreachable/);
    await expectAccessible(page);

    await row.getByRole('link', { name: 'Captures' }).click();
    const cards = page.locator('article.card');
    await expect.poll(() => cards.count()).toBe(2);
    const fold = page.getByRole('button', { name: '3 alike' });
    await expectAccessible(page);
    await fold.click();
    await expect.poll(() => cards.count()).toBe(4);
    // Coming back finds the group unfolded.
    await cards.getByRole('link').nth(2).click();
    await page.waitForURL('**/ui/results/*');
    await page.goBack();
    await expect.poll(() => cards.count()).toBe(4);
    // A filter leaves it unfolded, also when its user comes back.
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Status').selectOption('200');
    await page.waitForURL('**status=200**');
    await expect.poll(() => cards.count()).toBe(4);
    await cards.getByRole('link').nth(2).click();
    await page.waitForURL('**/ui/results/*');
    await page.goBack();
    await expect.poll(() => cards.count()).toBe(4);
    // Folding it with the filter does not fold it without.
    await fold.click();
    await expect.poll(() => cards.count()).toBe(2);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('status'));
    await expect.poll(() => cards.count()).toBe(4);
    await fold.click();
    await expect.poll(() => cards.count()).toBe(2);
    expect(ui.complaints).toEqual([]);
  });

  it('takes a file, and says what is wrong with it', async () => {
    const page = await ui.open('/ui/scans');
    const file = { name: 'nmap.xml', mimeType: 'text/xml', buffer: Buffer.from('<nmaprun></nmaprun>') };
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Scan', exact: true }).click();
    await expect
      .poll(() => page.getByRole('alert').innerText())
      .toContain('The list, read as nmap, has no target: it is empty.');
  });

  it('takes a file in the encoding that it declares', async () => {
    const page = await ui.open('/ui/scans');
    const url = `http://127.0.0.8:${hosts.closedPort}`;
    const xml = `<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>${url}/café</loc></url></urlset>`;
    const file = { name: 'sitemap.xml', mimeType: 'text/xml', buffer: Buffer.from(xml, 'latin1') };
    await page.getByLabel('File').setInputFiles(file);
    await page.getByRole('button', { name: 'Scan', exact: true }).click();
    const records = () => ui.app.service.results.page({ by: 'host', host: '127.0.0.8', where: {} }, 10);
    await expect.poll(async () => (await records()).map((record) => record.url)).toEqual([`${url}/caf%C3%A9`]);
  });

  it('cancels a scan', async () => {
    const list = Array.from({ length: 200 }, (_, n) => `http://127.0.0.7:${hosts.port}/${n}`).join('\n');
    const headers = { 'Content-Type': 'application/octet-stream' };
    await ui.app.call('/scans?perHost=1', { method: 'POST', headers, body: list });
    const page = await ui.open('/ui/scans');
    const row = page.getByRole('region', { name: 'Scan of 200 targets' });
    await row.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => row.innerText()).toContain('cancelled');
  });
});
