import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { clusterOf, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

const ELEMENTS = 12;
const Job = z.object({
  data: z.object({
    state: z.string(),
    progress: z.object({ done: z.number() }),
    results: z.array(
      z.object({
        index: z.number(),
        code: z.null(),
        result: z.object({ id: z.number(), url: z.string(), screenshot: z.string() }),
      }),
    ),
  }),
});
const Records = z.object({ data: z.array(z.object({ id: z.number(), url: z.string() })) });

describe.skipIf(whyNot !== undefined)(`a job of a cluster${reason}`, () => {
  const servers = serversForSuite();

  it('captures each item at least once when the api node that accepted it and a worker are killed, and names one capture of each', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using cluster = await clusterOf(servers, 'killed-jobs');
    const [first, second] = [await cluster.start('api'), await cluster.start('api')];
    const worker = await cluster.start('worker', '--max-concurrent', '2');
    await cluster.workers(first, 1);
    const urls = Array.from({ length: ELEMENTS }, () => pages.url());
    const posted = await fetch(`${first.url}/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
      body: JSON.stringify({ requests: urls.map((url) => ({ url })), concurrency: 2 }),
    });
    expect(posted.status).toBe(202);
    const path = posted.headers.get('location') ?? '';
    const job = async () => Job.parse(await (await fetch(`${second.url}${path}`)).json()).data;
    const records = async () => Records.parse(await (await fetch(`${second.url}/results?limit=1000`)).json()).data;
    // Some items are stored, and two run.
    for (const held of [2, 4, 6]) {
      await expect.poll(() => [pages.order.length, pages.waiting]).toEqual([held, 2]);
      if (held < 6) pages.hold(Number.POSITIVE_INFINITY);
    }
    for (const killed of [first, worker]) {
      killed.child.kill('SIGKILL');
      await killed.ended;
    }
    await cluster.again(worker);
    pages.hold(0);

    await expect.poll(async () => (await job()).state).toBe('completed');
    const { results } = await job();
    expect(results.map(({ index }) => index)).toEqual(urls.keys().toArray());
    expect(results.map(({ result }) => result.url)).toEqual(urls);
    const stored = await records();
    const ids = new Set(stored.map(({ id }) => id));
    expect(ids.size).toBe(stored.length);
    for (const { result } of results) {
      expect(ids).toContain(result.id);
      expect((await fetch(`${second.url}${result.screenshot}`)).status).toBe(200);
    }
    // An item whose outcome was not written yet is captured again.
    expect(new Set(stored.map(({ url }) => url))).toEqual(new Set(urls));
  });
});
