import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/actor.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { LOOKS, violations } from './axe.ts';
import { OVERFLOW, uiForSuite } from './ui-service.ts';

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
    await page.getByRole('spinbutton', { name: 'width' }).first().fill('640');
    await page.getByRole('spinbutton', { name: 'height' }).first().fill('400');
    await page.getByLabel('format').selectOption('webp');
    await page.getByText('record', { exact: true }).click();
    await page.getByLabel('tls').check();
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the capture' }).click();
    await page.getByText('640 × 400 webp').waitFor();
    await page.getByRole('tab', { name: 'TLS' }).waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('shows a field for every option, with its bounds and its description', async () => {
    const page = await ui.open('/ui/capture');
    await page.getByText('fullPage').waitFor();
    const document = Object(await (await ui.app.call('/openapi.json')).json());
    const options = Object.keys(document.components.schemas.ScreenshotRequest.properties).filter(
      (name) => name !== 'url',
    );
    const names = await page.locator('.option-name').allInnerTexts();
    const hidden = await page.locator('.option-name').allTextContents();
    expect(new Set([...names, ...hidden])).toEqual(new Set([...names, ...hidden, ...options]));
    await page.getByText('Quality of jpeg and webp. (1 to 100, default 80)').waitFor();
  });

  it('shows the place in the queue, then the phase, and cancels', async () => {
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
    expect(ui.app.service.stats().captures.cancelled).toBe(1);
  });

  it('shows what is wrong with an option beside its field', async () => {
    const page = await ui.open('/ui/capture');
    await page.getByLabel('URL', { exact: true }).fill('not a url at all');
    await page.getByLabel('quality').fill('500');
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.locator('.option', { hasText: 'quality' }).getByText('must be an integer from 1 to 100').waitFor();
    await page.locator('#url-problem').waitFor();
  });

  it('links to the record of a failed capture', async () => {
    const page = await ui.open(
      `/ui/capture?url=${encodeURIComponent(`http://127.0.0.1:${await freePort(createServer())}/`)}`,
    );
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('link', { name: 'Open the record of the failure' }).click();
    await page.waitForURL('**/ui/captures/*');
  });

  it.each(LOOKS)('is accessible in %s colours on a screen of %j', async (colorScheme, viewport) => {
    const page = await ui.open('/ui/capture', { colorScheme, viewport });
    await page.getByText('fullPage').waitFor();
    await page.locator('details').evaluateAll((groups) => groups.map((group) => group.setAttribute('open', '')));
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(OVERFLOW)).toBe(0);
  });
});
