import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { siteForSuite } from '../support/for-suite.ts';
import { freePort } from '../support/free-port.ts';
import { expectAccessible, violations } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

describe('the form for a capture', () => {
  const site = siteForSuite();
  const ui = uiForSuite({ maxConcurrent: 1 });
  /** Server of a page whose answer waits until the test releases it. */
  let gate: Server;
  let gateUrl: string;
  const held: ServerResponse[] = [];

  const release = () => {
    for (const response of held.splice(0)) response.end('<title>Released</title>');
  };

  beforeAll(async () => {
    gate = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      held.push(response);
    });
    await once(gate.listen(0, '127.0.0.1'), 'listening');
    const address = gate.address();
    gateUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  });

  afterEach(release);
  afterAll(() => {
    release();
    gate?.close();
  });

  it('captures a page with the chosen options and shows its image', async () => {
    const page = await ui.open('/ui/capture');
    await page.getByLabel('URL', { exact: true }).fill(site.url('/timetable'));
    await page.getByText('Advanced').click();
    await page.getByText('What the screenshot shows').click();
    await page
      .getByRole('spinbutton', { name: /^Width/ })
      .first()
      .fill('640');
    await page
      .getByRole('spinbutton', { name: /^Height/ })
      .first()
      .fill('400');
    await page.getByLabel('File format').selectOption('webp');
    await page.getByText('What is recorded, and reuse').click();
    await page.getByLabel('tls').check();
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the capture' }).click();
    await page.getByText('640 × 400 webp').waitFor();
    await page.getByRole('tab', { name: 'TLS' }).waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('has the common options on top', async () => {
    const page = await ui.open(`/ui/capture?url=${encodeURIComponent(site.url('/short'))}`);
    await page.getByLabel('Device', { exact: true }).selectOption('iPhone 15');
    await page.getByLabel('Full page').check();
    await page.getByLabel('Dark', { exact: true }).check();
    await page.getByLabel('Block ads').check();
    await page.getByLabel('Cookie banners').selectOption('Reject all');
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the capture' }).click();
    await page.locator('.facts').getByText('iPhone 15').waitFor();
    const [newest] = await ui.app.service.results.page({ by: 'all' }, 1);
    expect(newest?.options).toMatchObject({
      device: 'iPhone 15',
      fullPage: true,
      darkMode: true,
      blockAds: true,
      rejectCookieBanners: true,
      evidence: ['perception_hash', 'favicon'],
    });
  });

  it('captures several pages, one a line, and shows each as soon as it has its outcome', async () => {
    const page = await ui.open('/ui/capture');
    const urls = [site.url('/short'), 'file:///etc/passwd', gateUrl];
    await page.getByLabel('URL', { exact: true }).fill(urls.join('\n'));
    await page.getByRole('button', { name: 'Capture 3 pages' }).click();
    await page.getByText('2 of 3 done, 1 failed').waitFor();
    await expect.poll(() => held.length).toBe(1);
    release();
    await page.getByText('3 of 3 done, 1 failed').waitFor();
    await expect.poll(() => page.locator('.batch-list img').count()).toBe(2);
    expect(await violations(page)).toEqual([]);
  });

  it('cancels the rest of several pages', async () => {
    const page = await ui.open('/ui/capture');
    await page.getByLabel('URL', { exact: true }).fill(`${gateUrl}?a\n${gateUrl}?b`);
    await page.getByRole('button', { name: 'Capture 2 pages' }).click();
    await expect.poll(() => held.length).toBe(1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The rest was cancelled.').waitFor();
    await expect.poll(() => ui.app.service.stats().captures.inside).toBe(0);
  });

  it('repeats a capture with its options, and says which of them were not kept', async () => {
    const url = site.url('/short');
    const options = { fullPage: true, device: 'iPhone 15', hide: ['nav'] };
    await ui.app.post('/screenshot', { url, ...options, headers: { 'X-Token': 'secret' } });
    const [first] = await ui.app.service.results.page({ by: 'all' }, 1);
    const page = await ui.open(`/ui/results/${first?.id}`);
    await page.getByRole('link', { name: 'Capture this URL again' }).click();
    await page.getByText('Not kept with the capture, so enter it again: Request headers').waitFor();
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the capture' }).waitFor();
    const [second] = await ui.app.service.results.page({ by: 'all' }, 1);
    expect(second?.id).not.toBe(first?.id);
    expect(second).toMatchObject({ url, options });
  });

  it('repeats a capture of HTML, which has no URL to enter', async () => {
    const html = '<!doctype html><title>Given</title><h1>Hello</h1>';
    await ui.app.post('/screenshot', { html });
    const [first] = await ui.app.service.results.page({ by: 'all' }, 1);
    const page = await ui.open(`/ui/results/${first?.id}`);
    await page.getByRole('link', { name: 'Capture this URL again' }).click();
    expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the capture' }).waitFor();
    const [second] = await ui.app.service.results.page({ by: 'all' }, 1);
    expect(second?.id).not.toBe(first?.id);
    expect(second).toMatchObject({ title: 'Given', options: { html } });
  });

  it('has a field for every option of the API', async () => {
    const page = await ui.open('/ui/capture');
    await page.locator('.option').first().waitFor({ state: 'attached' });
    const document = Object(await (await ui.app.call('/openapi.json')).json());
    const onTop = ['url', 'device', 'fullPage', 'darkMode', 'blockAds', 'acceptCookieBanners', 'rejectCookieBanners'];
    const options = Object.keys(document.components.schemas.ScreenshotRequest.properties);
    const named = await page.locator('.option-api').allTextContents();
    expect(named).toEqual(expect.arrayContaining(options.filter((name) => !onTop.includes(name))));
    expect(await page.getByText('(1 to 100, default 80)').count()).toBe(1);
  });

  it('shows the place in the queue, then the phase, and cancels', async () => {
    const { cancelled } = ui.app.service.stats().captures;
    const first = ui.app.post('/screenshot', { url: gateUrl });
    await expect.poll(() => held.length).toBe(1);
    const page = await ui.open(`/ui/capture?url=${encodeURIComponent(`${gateUrl}?second`)}`);
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByText('In the queue: place 1').waitFor();
    release();
    await first;
    await page.locator('.steps [aria-current=step]').getByText('navigate').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The capture was cancelled.').waitFor();
    await expect.poll(() => ui.app.service.stats().captures.inside).toBe(0);
    expect(ui.app.service.stats().captures.cancelled).toBe(cancelled + 1);
  });

  it('shows what is wrong with an option beside its field', async () => {
    const page = await ui.open('/ui/capture');
    await page.getByLabel('URL', { exact: true }).fill('not a url at all');
    await page.getByText('Advanced').click();
    await page.getByText('What the screenshot shows').click();
    await page.getByLabel('Quality of JPEG and WebP').fill('500');
    await page.getByRole('button', { name: 'Capture' }).click();
    await page
      .locator('.option', { hasText: 'Quality of JPEG' })
      .getByText('must be an integer from 1 to 100')
      .waitFor();
    await page.locator('#url-problem').waitFor();
  });

  it('links to the record of a failed capture', async () => {
    const page = await ui.open(`/ui/capture?url=${encodeURIComponent(`http://127.0.0.1:${await freePort()}/`)}`);
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the record of the failure' }).click();
    await page.waitForURL('**/ui/results/*');
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open('/ui/capture');
    await page.locator('.option').first().waitFor({ state: 'attached' });
    await page.locator('details').evaluateAll((groups) => groups.map((group) => group.setAttribute('open', '')));
    await expectAccessible(page);
  });
});
