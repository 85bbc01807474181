import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { allResults, capture, stats } from '../faults/client.ts';
import { type Block, subscribe } from '../http/event-subscriber.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, clusterStats, ownServersForSuite, type Servers, whyNoCluster } from './cluster-of-processes.ts';
import { startHeldPages } from './held-pages.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster whose workers end${reason}`, () => {
  const site = siteForSuite();
  const servers = ownServersForSuite();

  it('repeats the captures of a killed worker on another one, and fails no capture when workers are restarted', async () => {
    await using cluster = await clusterOf(servers, 'ending');
    await using pages = await startHeldPages(2_000);
    const [api, first] = await Promise.all([cluster.start('api'), cluster.start('worker', '--max-concurrent', '2')]);
    await cluster.workers(api, 1);
    const held = capture(api.url, { url: pages.url(), timeoutMs: 120_000 });
    await expect.poll(() => pages.waiting).toBe(1);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await cluster.start('worker', '--max-concurrent', '2');
    expect((await held).status).toBe(200);

    // The worker is replaced while clients keep sending captures.
    let isDone = false;
    const statuses: number[] = [];
    const clients = Array.from({ length: 3 }, async () => {
      while (!isDone) statuses.push((await capture(api.url, { url: site.url('/title?t=rolling') })).status);
    });
    const sends = async () => {
      const before = statuses.length;
      await expect.poll(() => statuses.length).toBeGreaterThan(before + 3);
    };
    await cluster.start('worker', '--max-concurrent', '2');
    await sends();
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    await sends();
    isDone = true;
    await Promise.all(clients);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const { captures } = await stats(api.url);
    expect(captures).toMatchObject({ accepted: statuses.length + 1, stored: statuses.length + 1, inside: 0 });
    await expect.poll(async () => (await clusterStats(api)).running).toBe(0);
  });

  it('has the event of a capture that a killed worker kept for MongoDB, although nobody waits for it any more', async () => {
    await using cluster = await clusterOf(servers, 'recovered');
    await using pages = await startHeldPages(Number.POSITIVE_INFINITY);
    const api = await cluster.start('api');
    const worker = await cluster.start('worker');
    await cluster.workers(api, 1);
    const url = pages.url();
    const unanswered = capture(api.url, { url, timeoutMs: 120_000 }).catch(() => undefined);
    await expect.poll(() => pages.waiting).toBe(1);
    await servers.mongo.stop();
    // The worker can tell nobody that it has stored the capture.
    await servers.nats.kill();
    pages.hold(0);
    await expect.poll(async () => (await stats(worker.url)).store.outbox).toBe(1);
    for (const { child, ended } of [worker, api]) {
      child.kill('SIGKILL');
      await ended;
    }
    await unanswered;
    await Promise.all([servers.nats.start(), servers.mongo.start()]);
    await removeTickets(servers, 'recovered');
    const [next] = await Promise.all([cluster.start('api'), cluster.again(worker)]);
    const subscriber = await subscribe(`${next.url}/events?lastEventId=0`);
    let found: Block;
    do found = await subscriber.event();
    while (found.event !== 'capture.stored');
    await subscriber.close();
    expect(found.data).toMatchObject({ url });
    expect(await allResults(next.url)).toMatchObject([{ url }]);
  });
});

/** Takes the tickets out of the stream, which would lead a worker to the record. */
async function removeTickets({ nats }: Servers, name: string): Promise<void> {
  const connection = await connect({ servers: nats.url });
  const { streams } = await jetstreamManager(connection);
  await streams.purge(`${name}-work`);
  await connection.close();
}
