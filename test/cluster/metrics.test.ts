import { describe, expect, it } from 'vitest';
import { descriptorLimit, dialsWithin } from '../../src/pressure/descriptors.ts';
import { capture } from '../faults/client.ts';
import { parseMetrics, valuesBy } from '../metrics/prometheus-text.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, clusterStats, serversForSuite, whyNoCluster } from './cluster-of-processes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`metrics of a cluster${reason}`, () => {
  const site = siteForSuite();
  const servers = serversForSuite();
  const scrape = async (url: string) => parseMetrics(await (await fetch(`${url}/metrics`)).text());

  it('reports the metrics of each process, with the figures of the whole cluster', async () => {
    await using cluster = await clusterOf(servers, 'metrics');
    const [node, worker] = await Promise.all([
      cluster.start('api'),
      cluster.start('worker', '--max-concurrent', '2', '--max-dials', '10000'),
    ]);
    await cluster.workers(node, 1);
    expect((await capture(node.url, { url: site.url('/short') })).status).toBe(200);
    await expect.poll(() => clusterStats(node).then(({ running }) => running)).toBe(0);
    for (const { url } of [node, worker]) {
      expect(valuesBy(await scrape(url), 'capstan_captures_total', 'outcome')).toMatchObject({ stored: 1 });
      // Each process learns of the others from their reports.
      await expect
        .poll(async () => valuesBy(await scrape(url), 'capstan_cluster_processes', 'role'))
        .toEqual({ api: 1, worker: 1 });
      expect(valuesBy(await scrape(url), 'capstan_cluster_slots')).toEqual({ '': 2 });
    }
    expect(valuesBy(await scrape(node.url), 'capstan_browser_launches_total')).toEqual({ '': 0 });
    expect(valuesBy(await scrape(worker.url), 'capstan_browser_launches_total')).toEqual({ '': 1 });
    // As many as the descriptors of the process allow.
    const dials = dialsWithin(descriptorLimit(), 10_000);
    expect(valuesBy(await scrape(worker.url), 'capstan_dials_limit')).toEqual({ '': dials });
    expect(valuesBy(await scrape(worker.url), 'capstan_capture_phase_duration_seconds_count', 'phase').picture).toBe(1);
  });
});
