import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JobSchema } from '../../src/http/answer/schemas.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { ownServersForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { nodesOf } from './nodes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;
const Job = z.object({ data: JobSchema });

/** Sends the first request of a batch, and resolves when its answer begins. `end` sends the last request. */
async function startBatch(baseUrl: string, first: object) {
  const sent = request(`${baseUrl}/batch`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } });
  const answered = once(sent, 'response');
  sent.write(`${JSON.stringify(first)}\n`);
  const [input] = await answered;
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? 'null');
  return { next, end: (last: object) => void sent.end(`${JSON.stringify(last)}\n`) };
}

describe.skipIf(whyNot !== undefined)(`a cluster whose servers go away${reason}`, () => {
  const site = siteForSuite();
  const servers = ownServersForSuite();

  it('refuses captures with 503 while NATS is away, still answers queries, and afterwards completes waiting jobs and batches', async () => {
    await using nodes = await nodesOf(servers, 'nats-away');
    const api = await nodes.api();
    const worker = await nodes.worker();
    const submit = () => api.post('/screenshot', { url: site.url('/title?t=kept') });
    expect((await submit()).status).toBe(200);
    const kept = { url: site.url('/title?t=kept') };
    const batch = await startBatch(api.baseUrl, kept);
    expect(await batch.next()).toMatchObject({ index: 0, result: { failed: false } });

    await servers.nats.kill();
    await expect.poll(() => api.service.readiness).toMatchObject({ code: 'cluster_unavailable' });
    const refused = await submit();
    expect({ status: refused.status, body: await refused.json() }).toMatchObject({
      status: 503,
      body: { code: 'cluster_unavailable' },
    });
    expect((await api.call('/readyz')).status).toBe(503);
    expect((await api.call('/readyz/reads')).status).toBe(200);
    expect((await api.call('/readyz/any')).status).toBe(200);
    expect((await api.call('/results')).status).toBe(200);
    batch.end({ ...kept, timeoutMs: 120_000 });
    const job = await api.post('/screenshot', kept, { headers: { Prefer: 'respond-async' } });
    expect(job.status).toBe(202);
    const { accepted } = api.service.stats().captures;

    await servers.nats.start();
    expect(await batch.next()).toMatchObject({ index: 1, result: { failed: false } });
    const jobNow = async () => Job.parse(await (await api.call(job.headers.get('location') ?? '')).json()).data;
    await expect.poll(async () => (await jobNow()).state).toBe('completed');
    expect((await jobNow()).results).toMatchObject([{ code: null, result: { failed: false } }]);
    await expect.poll(async () => (await submit()).status).toBe(200);
    // Nothing that was refused is captured later.
    const { captures, cluster } = worker.stats();
    expect(captures.accepted).toBe(api.service.stats().captures.accepted);
    expect(api.service.stats().captures.accepted).toBeGreaterThan(accepted);
    expect(cluster?.connected).toBe(true);
  });

  it('keeps capturing while MongoDB is away, and has each record once at every node when it is back', async () => {
    await using nodes = await nodesOf(servers, 'mongo-away');
    const [one, two] = await Promise.all([nodes.api(), nodes.api()]);
    const worker = await nodes.worker();
    const capture = async () => {
      const answer = await one.post('/screenshot', { url: site.url('/title?t=kept') });
      expect(answer.status).toBe(200);
      return JSON.parse(await answer.text()).data.id;
    };
    const ids = [await capture()];
    await servers.mongo.stop();
    await expect.poll(async () => ids.push(await capture()) > 0 && worker.stats().store.outbox).not.toBe(0);
    expect((await two.call('/results')).status).toBe(503);

    const newest = ids.at(-1) ?? 0;
    const statuses = new Set<number>();
    const seen = async (path: string) => {
      const { status, headers } = await two.call(path);
      if (status === 503) expect(headers.get('retry-after')).not.toBe(null);
      statuses.add(status);
      return status;
    };
    await servers.mongo.start();
    // The worker delivers what it kept some time after the api nodes can read again.
    await expect.poll(() => seen(`/screenshot/${newest}`)).toBe(200);
    await expect.poll(() => seen(`/results/${newest}`)).toBe(200);
    expect(statuses).toEqual(new Set([503, 200]));
    await expect.poll(() => worker.stats().store).toMatchObject({ state: 'up', outbox: 0 });
    await expect.poll(() => two.service.results.state).toBe('up');
    const list = JSON.parse(await (await two.call('/results?limit=1000')).text()).data;
    expect(list.map(({ id }: { id: number }) => id).sort()).toEqual(ids.sort());
    for (const id of ids) expect((await two.call(`/screenshot/${id}`)).status).toBe(200);
  });
});
