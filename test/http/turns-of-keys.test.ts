import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { type HeldPages, startHeldPages } from '../cluster/held-pages.ts';
import type { RunningApp } from '../support/serve.ts';
import { describeWithTenants, tenantsForSuite } from './tenants.ts';

/* One key captures batches or many pages, and another one uses the service meanwhile. One capture runs at a time. */

const LIMITS = { maxConcurrent: 1, maxQueue: 1000, clusterMaxConcurrent: 1000 };
/** Pages may be held for long on a busy machine. */
const HTTP = { maxBatch: 50, timeoutMs: 60_000, maxTimeoutMs: 120_000 };
/** Captures of another key that may come first: one that runs, one that follows it, and two that were on their way. */
const FEW = 4;
/** Captures by which one of two batches may be ahead, also before a node knows of a batch at another node. */
const MAX_LEAD = 8;

/** Cheap captures: only their order is tested. */
const CHEAP: CaptureOptions = { viewport: { width: 64, height: 64 }, elementMap: false };

const InFlight = z.object({ data: z.array(z.unknown()) });

async function inFlight(app: RunningApp, key: string): Promise<number> {
  const answer = await app.call('/captures?limit=1000', { headers: { 'X-API-Key': key } });
  return InFlight.parse(await answer.json()).data.length;
}

async function sendBatch(app: RunningApp, key: string, urls: readonly string[], signal?: AbortSignal): Promise<number> {
  const requests = urls.map((url) => ({ url, ...CHEAP }));
  const init = { headers: { 'X-API-Key': key }, ...(signal === undefined ? {} : { signal }) };
  const answer = await app.post('/batch', { requests }, init);
  await answer.arrayBuffer();
  return answer.status;
}

async function sendSingle(app: RunningApp, key: string, url: string, signal?: AbortSignal): Promise<number> {
  const init = { headers: { 'X-API-Key': key }, ...(signal === undefined ? {} : { signal }) };
  const answer = await app.post('/screenshot', { url, ...CHEAP }, init);
  await answer.arrayBuffer();
  return answer.status;
}

function urlsOf(pages: HeldPages, count: number): readonly string[] {
  return Array.from({ length: count }, () => pages.url());
}

/** Captures that wait leave the queue with their client. */
async function leave(client: AbortController, app: RunningApp, requests: readonly Promise<unknown>[]): Promise<void> {
  client.abort();
  await Promise.all(requests);
  await expect.poll(() => inFlight(app, 'flood-key')).toBe(0);
}

describe('captures of several keys', () => {
  describeWithTenants((start, apiNodes) => {
    const running = tenantsForSuite(() => start(LIMITS, HTTP));

    it('wait for a few captures of a batch of another key, not for all, at every node', async () => {
      await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
      const { apps, one } = await running();
      const flood = urlsOf(pages, 50);
      const client = new AbortController();
      const batch = sendBatch(one, 'flood-key', flood, client.signal).catch(() => 'left');
      await expect.poll(() => pages.waiting).toBe(1);

      const singles = urlsOf(pages, apps.length);
      const answers = apps.map((app, at) => sendSingle(app, 'shop-key', singles[at] ?? ''));
      await expect.poll(() => inFlight(one, 'shop-key')).toBe(apps.length);
      pages.hold(0);
      expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));

      for (const single of singles) {
        const earlier = pages.order.slice(0, pages.order.indexOf(single));
        expect(earlier.filter((url) => flood.includes(url)).length).toBeLessThanOrEqual(FEW);
      }
      await leave(client, one, [batch]);
    });

    it.each(apiNodes === 1 ? ['one node'] : ['one node', 'every node'])(
      'wait for a few single captures of another key, however many it has sent to %s',
      async (where) => {
        await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
        const { apps, one } = await running();
        const flooded = where === 'one node' ? [one] : apps;
        const client = new AbortController();
        const flood = urlsOf(pages, 100);
        const floods = flood.map((url, at) =>
          sendSingle(flooded[at % flooded.length] ?? one, 'flood-key', url, client.signal).catch(() => 'left'),
        );
        await expect.poll(() => inFlight(one, 'flood-key')).toBe(flood.length);

        const single = pages.url();
        const answer = sendSingle(apps.at(-1) ?? one, 'shop-key', single);
        await expect.poll(() => inFlight(one, 'shop-key')).toBe(1);
        pages.hold(0);
        expect(await answer).toBe(200);
        const earlier = pages.order.slice(0, pages.order.indexOf(single));
        // Nodes that are flooded at the same moment do not know of each other yet.
        expect(earlier.length).toBeLessThanOrEqual(FEW * flooded.length);

        await leave(client, one, floods);
      },
    );

    it.each(apiNodes === 1 ? ['the same node'] : ['the same node', 'another node'])(
      'take turns with those of a batch of another key, sent to %s',
      async (node) => {
        await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
        const { apps, one } = await running();
        const other = node === 'the same node' ? one : (apps.at(-1) ?? one);
        const batches = [urlsOf(pages, 12), urlsOf(pages, 12)] as const;
        const first = sendBatch(one, 'flood-key', batches[0]);
        await expect.poll(() => pages.waiting).toBe(1);
        const second = sendBatch(other, 'shop-key', batches[1]);
        await expect.poll(() => inFlight(other, 'shop-key')).toBeGreaterThan(0);
        pages.hold(0);
        expect(await Promise.all([first, second])).toEqual([200, 200]);

        expect(pages.order).toHaveLength(24);
        let lead = 0;
        const leads = pages.order.slice(0, 18).map((url) => {
          lead += batches[0].includes(url) ? 1 : -1;
          return Math.abs(lead);
        });
        expect(Math.max(...leads)).toBeLessThanOrEqual(MAX_LEAD);
      },
    );

    it('leave the queue at once when the client of their batch has gone, although another key is first', async () => {
      await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
      const { one } = await running();
      const flood = urlsOf(pages, 4);
      const batch = sendBatch(one, 'flood-key', flood);
      await expect.poll(() => pages.waiting).toBe(1);
      const client = new AbortController();
      const left = sendBatch(one, 'shop-key', urlsOf(pages, 20), client.signal).catch(() => 'left');
      await expect.poll(() => inFlight(one, 'shop-key')).toBeGreaterThan(0);
      client.abort();
      expect(await left).toBe('left');
      await expect.poll(() => inFlight(one, 'shop-key')).toBe(0);
      expect(pages.order).toHaveLength(1);
      pages.hold(0);
      expect(await batch).toBe(200);
      expect(new Set(pages.order)).toEqual(new Set(flood));
    });
  });
});
