import { describe, expect, it } from 'vitest';
import type { RunningService } from '../support/service.ts';
import { serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';
import { nodesOf } from './nodes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`the queue of a cluster${reason}`, () => {
  const servers = serversForSuite();

  it('admits exactly as many captures as its limits allow over all api nodes, and answers 429 to others', async () => {
    await using pages = await startHeldPages(0);
    await using nodes = await nodesOf(servers, 'capacity', { clusterMaxConcurrent: 3, maxQueue: 5 });
    const apis = await Promise.all([nodes.api(), nodes.api(), nodes.api()]);
    const capacity = 8;
    const answers = Array.from({ length: 10 * capacity }, (_, at) => submit(apis[at % 3], pages.url()));
    let refused = 0;
    for (const answer of answers) void answer.then(({ status }) => (refused += status === 429 ? 1 : 0));
    await expect.poll(() => refused).toBe(9 * capacity);
    const inside = apis.map(({ service }) => service.stats().captures.inside);
    expect(inside.reduce((sum, count) => sum + count)).toBe(capacity);

    await nodes.worker();
    const all = await Promise.all(answers);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(capacity);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(9 * capacity);
    for (const { status, retryAfter } of all) if (status === 429) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
  });

  it('admits as many captures as the workers have slots and the queue has places, also where the limit is higher', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using nodes = await nodesOf(servers, 'slots', { clusterMaxConcurrent: 1000, maxQueue: 5 });
    const [one, two] = await Promise.all([nodes.api(), nodes.api()]);
    await nodes.worker({ maxConcurrent: 2 });
    const isKnown = ({ service }: RunningService) => service.stats().cluster?.slots === 2;
    await expect.poll(() => [one, two].every(isKnown)).toBe(true);

    const answers = Array.from({ length: 12 }, () => submit(one, pages.url()));
    let refused = 0;
    for (const answer of answers) void answer.then(({ status }) => (refused += status === 429 ? 1 : 0));
    await expect.poll(() => refused).toBe(5);
    expect(inside(one)).toBe(7);
    // Captures of the other node count as soon as it has announced them.
    await expect.poll(() => two.service.stats().cluster?.waiting).toBe(5);
    expect((await submit(two, pages.url())).status).toBe(429);

    pages.hold(0);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    await expect.poll(async () => (await submit(two, pages.url())).status).toBe(200);
  });

  it('never runs more captures than the limit while the limit changes under load, and loses none', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using nodes = await nodesOf(servers, 'changing', { clusterMaxConcurrent: 8, maxQueue: 100 });
    const [one, two] = await Promise.all([nodes.api(), nodes.api()]);
    await Promise.all([nodes.worker({ maxConcurrent: 8 }), nodes.worker({ maxConcurrent: 8 })]);
    const answers = Array.from({ length: 24 }, (_, at) => submit(at % 2 === 0 ? one : two, pages.url()));
    await expect.poll(() => pages.waiting).toBe(8);

    const limits = await one.service.setLimits({ maxConcurrent: 2, maxQueue: 10 });
    expect(limits).toEqual({ maxConcurrent: 2, maxQueue: 10 });
    await expect.poll(() => two.service.pressure().maxConcurrent).toBe(2);
    // The queue holds more than its new limit: nothing is dropped, and nothing else is admitted.
    expect((await submit(two, pages.url())).status).toBe(429);
    expect([inside(one) + inside(two), pages.most]).toEqual([24, 8]);
    pages.hold(0);
    pages.reset();
    await expect.poll(async () => (await submit(two, pages.url())).status).toBe(200);
    expect(pages.most).toBeLessThanOrEqual(2);

    pages.hold(Number.POSITIVE_INFINITY);
    await two.service.setLimits({ maxConcurrent: 8, maxQueue: 100 });
    await expect.poll(() => one.service.pressure().maxConcurrent).toBe(8);
    const more = Array.from({ length: 12 }, () => submit(one, pages.url()));
    await expect.poll(() => pages.waiting).toBe(8);
    pages.hold(0);
    const statuses = (await Promise.all([...answers, ...more])).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(pages.most).toBe(8);
  });

  it('frees the slot of a client that disconnects while its capture is queued or runs on a worker', async () => {
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    await using nodes = await nodesOf(servers, 'hang-up', { clusterMaxConcurrent: 1, maxQueue: 1 });
    const api = await nodes.api();
    const worker = await nodes.worker();
    const gone = [new AbortController(), new AbortController()];
    const running = submit(api, pages.url(), gone[0]?.signal).catch(() => 'gone');
    await expect.poll(() => pages.waiting).toBe(1);
    const queued = submit(api, pages.url(), gone[1]?.signal).catch(() => 'gone');
    await expect.poll(() => inside(api)).toBe(2);
    expect((await submit(api, pages.url())).status).toBe(429);

    gone[1]?.abort();
    await queued;
    await expect.poll(() => inside(api)).toBe(1);
    const next = new AbortController();
    const taken = submit(api, pages.url(), next.signal).catch(() => 'gone');
    await expect.poll(() => inside(api)).toBe(2);
    gone[0]?.abort();
    await running;
    // The queued capture takes the slot of the one that was cancelled.
    await expect.poll(() => worker.stats().captures.cancelled).toBe(1);
    await expect.poll(() => pages.waiting).toBe(1);
    next.abort();
    await taken;
    await expect.poll(() => worker.stats().captures.inside).toBe(0);
    await expect.poll(() => inside(api)).toBe(0);
  });

  it('reports a capture as timed out when no worker starts it in time, and carries it out again for the same key', async () => {
    await using nodes = await nodesOf(servers, 'waiting', { maxWaitMs: 200 });
    const api = await nodes.api();
    expect(api.service.pressure()).toMatchObject({ accepting: true, reason: expect.stringContaining('no worker') });
    const headers = { 'Idempotency-Key': 'waiting' };
    for (const time of [1, 2]) {
      const answer = await api.post('/screenshot', { url: 'http://127.0.0.1:9999/' }, { headers });
      expect(answer.status).toBe(504);
      expect(await answer.json()).toMatchObject({
        code: 'capture_timeout',
        error: 'The capture was not started within 200 ms.',
      });
      expect(api.service.stats().captures.timed_out).toBe(time);
    }
  });
});

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
}

async function submit(node: RunningService | undefined, url: string, signal?: AbortSignal): Promise<Answer> {
  if (node === undefined) throw new Error('there is no such node');
  const answer = await node.post('/screenshot', { url }, signal === undefined ? {} : { signal });
  await answer.body?.cancel();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
}

function inside({ service }: RunningService): number {
  return service.stats().captures.inside;
}
