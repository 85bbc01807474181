import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const Job = z.object({ data: z.object({ state: z.string() }) });

describe('--max-batch-concurrency', () => {
  const site = siteForSuite();
  const app = serviceForSuite({ maxConcurrent: 4, maxBatchConcurrency: 2 });

  /** Returns the concurrency of the batches that `send` begins, after it has ended. */
  async function concurrencies(send: () => Promise<void>): Promise<readonly number[]> {
    const seen: number[] = [];
    const subscription = app.service.events$.subscribe((event) => {
      if (event.type === 'batch.accepted') seen.push(event.concurrency);
    });
    await send();
    subscription.unsubscribe();
    return seen;
  }

  const requests = () => ['a', 'b', 'c'].map((name) => ({ url: site.url(`/title?t=${name}`) }));

  it('limits a batch that asks for more, and one that asks for nothing', async () => {
    const seen = await concurrencies(async () => {
      for (const concurrency of [4, undefined, 1]) {
        const response = await app.post('/batch', { requests: requests(), concurrency });
        expect(await response.json()).toHaveLength(3);
      }
    });
    expect(seen).toEqual([2, 2, 1]);
  });

  it('limits a batch of lines', async () => {
    const seen = await concurrencies(async () => {
      const body = requests()
        .map((one) => JSON.stringify(one))
        .join('\n');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const response = await app.call('/batch?concurrency=4', { method: 'POST', headers, body });
      expect((await response.text()).trim().split('\n')).toHaveLength(3);
    });
    expect(seen).toEqual([2]);
  });

  it('limits the batch of a job', async () => {
    const seen = await concurrencies(async () => {
      const response = await app.post('/batch', { requests: requests() }, { headers: { Prefer: 'respond-async' } });
      const path = response.headers.get('location') ?? '';
      const state = async () => Job.parse(await (await app.call(path)).json()).data.state;
      await expect.poll(state).toBe('completed');
    });
    expect(seen).toEqual([2]);
  });
});
