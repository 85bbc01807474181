import { describe, expect, it } from 'vitest';
import { capture, stats } from '../faults/client.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();

  it('runs a capture on a worker when an api node receives the request, and serves it at every node', async () => {
    await using cluster = await clusterOf(servers, 'dispatch');
    const [first, second, worker] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('worker', '--max-concurrent', '2'),
    ]);
    await cluster.workers(first, 1);
    const { status, result } = await capture(first.url, { url: site.url('/title?t=far') });
    expect({ status, title: result?.title }).toEqual({ status: 200, title: 'far' });
    const record = await fetch(`${second.url}/results/${result?.id}`);
    expect(record.status).toBe(200);
    const image = await fetch(`${second.url}${result?.screenshot}`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await stats(first.url)).pool.browsers).toEqual([]);
    expect((await stats(worker.url)).pool.browsers).toHaveLength(1);
    await expect
      .poll(() => clusterStats(second))
      .toEqual({
        connected: true,
        nodes: 2,
        workers: 1,
        slots: 2,
        running: 0,
        waiting: 0,
      });
  }, 60_000);
});
