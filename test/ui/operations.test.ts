import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { siteForSuite } from '../support/for-suite.ts';
import { expectAccessible } from './axe.ts';
import { uiForSuite } from './ui-service.ts';

describe('the operations view', () => {
  const site = siteForSuite();
  const ui = uiForSuite({ maxConcurrent: 2 });
  /** Server of pages whose answers wait until the test has ended. */
  let gate: Server;
  let gateUrl: string;
  const held: ServerResponse[] = [];

  beforeAll(async () => {
    gate = createServer((_request, response) => void held.push(response));
    await once(gate.listen(0, '127.0.0.1'), 'listening');
    const address = gate.address();
    gateUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  });

  afterEach(() => {
    for (const response of held.splice(0)) response.end('<title>Released</title>');
  });
  afterAll(() => void gate?.close());

  it('draws charts of the load, with the newest values as text', async () => {
    const page = await ui.open('/ui/operations');
    const chart = (title: string) => page.locator('.chart', { hasText: title });
    await chart('Running').getByText('limit 2').waitFor();
    await ui.app.post('/screenshot', { url: site.url('/short') });
    await chart('Capture, last minute')
      .getByText(/p95 \d/)
      .waitFor();
    await chart('Wait, last minute')
      .getByText(/p99 \d/)
      .waitFor();
    await expect.poll(() => page.locator('.chart canvas').count()).toBe(8);
    await page.locator('.tiles').getByText('sqlite, up').waitFor();
    expect(ui.complaints).toEqual([]);
  });

  it('draws what happened before the page was opened', async () => {
    await ui.app.post('/screenshot', { url: site.url('/short') });
    await expect.poll(() => ui.app.service.loadAfter(0).at(-1)?.duration_ms).toMatchObject({});
    const page = await ui.open('/ui/operations');
    await page
      .locator('.chart', { hasText: 'Capture, last minute' })
      .getByText(/p50 \d/)
      .waitFor();
  });

  it('changes the limits with sliders', async () => {
    const page = await ui.open('/ui/operations');
    await page.getByRole('slider', { name: 'Running at once' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => ui.app.service.stats().queue.max_concurrent).toBe(3);
    await page.getByRole('slider', { name: 'In the queue' }).focus();
    await page.keyboard.press('Home');
    await expect.poll(() => ui.app.service.stats().queue.max_queue).toBe(0);
    ui.app.service.setLimits({ maxConcurrent: 2, maxQueue: 1000 });
  });

  it('shows captures in flight and the progress of a job, and cancels it', async () => {
    const page = await ui.open('/ui/operations');
    await page.getByText('Captures in flight').waitFor();
    const requests = [site.url('/short'), `${gateUrl}?1`, `${gateUrl}?2`, `${gateUrl}?3`].map((url) => ({ url }));
    await ui.app.post('/batch', { requests }, { headers: { Prefer: 'respond-async' } });
    const jobs = page.locator('section', { hasText: 'Jobs' });
    await jobs.getByText('1 of 4').waitFor();
    const flights = page.locator('section', { hasText: 'Captures in flight' });
    await flights.getByText('navigate').first().waitFor();
    await jobs.getByRole('button', { name: /^Cancel job/ }).click();
    await jobs.getByText('cancelled').waitFor();
    await expect.poll(() => ui.app.service.stats().captures.inside).toBe(0);
  });

  it('shows the progress of a batch', async () => {
    const page = await ui.open('/ui/operations');
    await page.locator('.charts').waitFor();
    await ui.app.post('/batch', { requests: [{ url: site.url('/short') }, { url: 'file:///x' }] });
    const batches = page.locator('section', { hasText: 'Batches' });
    await batches.getByText('2 of 2, 1 failed').waitFor();
    await batches.getByText('completed').waitFor();
  });

  it('is accessible in all colours on all screens', async () => {
    const page = await ui.open('/ui/operations');
    await page.locator('.chart canvas').last().waitFor();
    await expectAccessible(page);
  });
});
