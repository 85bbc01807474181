import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchItem } from '../../src/capture/outcome.ts';
import { listening } from '../egress/listening.ts';
import { captureRequest } from '../support/capture-request.ts';
import { freePort } from '../support/free-port.ts';
import type { RunningService } from '../support/service.ts';
import { startSilentListener } from '../support/silent-listener.ts';
import { serversForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { membersOf } from './members.ts';
import { nodesOf } from './nodes.ts';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;
const LOOPBACK = { allowTargets: ['127.0.0.0/8'] };

/** A site that counts its connections. */
async function site() {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end('<link rel="icon" href="data:,"><p>here');
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const { port, ...rest } = await listening(server);
  return {
    ...rest,
    page: (name: string) => `http://127.0.0.1:${port}/${name}`,
    get connections() {
      return connections;
    },
  };
}

/** Runs a batch. Its items appear in the list. */
function batchOf(
  api: RunningService,
  urls: readonly string[],
): { readonly items: readonly BatchItem[]; isOver(): boolean; leave(): void } {
  const items: BatchItem[] = [];
  let isOver = false;
  const running = api.service
    .submitBatch(urls.map((url) => captureRequest(url)))
    .subscribe({ next: (item) => items.push(item), complete: () => (isOver = true) });
  onTestFinished(() => running.unsubscribe());
  return { items, isOver: () => isOver, leave: () => running.unsubscribe() };
}

/** A way to a database, which may keep what is sent to itself for a while. */
async function relayTo(url: string) {
  const { hostname, port, pathname } = new URL(url);
  const ways = new Map<Socket, Socket>();
  let isSilent = false;
  const server = createTcpServer((client) => {
    const database = connect({ host: hostname, port: Number(port) });
    ways.set(client, database);
    database.pipe(client);
    if (!isSilent) client.pipe(database);
    for (const socket of [client, database]) socket.on('error', () => {});
    client.on('close', () => database.destroy());
    database.on('close', () => client.destroy());
  });
  const { port: own, ...rest } = await listening(server, '127.0.0.1');
  return {
    ...rest,
    url: `mongodb://127.0.0.1:${own}${pathname}`,
    silence: () => {
      isSilent = true;
      for (const client of ways.keys()) client.unpipe();
    },
    resume: () => {
      isSilent = false;
      for (const [client, database] of ways) client.pipe(database);
    },
  };
}

describe.skipIf(whyNot !== undefined)(`a batch with dead targets in a cluster${reason}`, () => {
  const servers = serversForSuite();

  it('has its pages captured while targets never answer, which hold neither a slot nor a ticket', async () => {
    await using pages = await site();
    await using silent = await startSilentListener(Array.from({ length: 8 }, (_, at) => `127.0.3.${at + 1}`));
    await using nodes = await nodesOf(servers, 'dead', LOOPBACK);
    const api = await nodes.api();
    const worker = await nodes.worker({ maxConcurrent: 1 });
    await expect.poll(() => api.service.stats().dials.max).toBeGreaterThan(0);
    // Without a scheme, each target is dialled twice, for 10 s each: longer than it takes to capture the pages.
    const batch = batchOf(api, [...silent.targets, ...['a', 'b', 'c'].map(pages.page)]);
    await expect.poll(() => batch.items.length, { timeout: 60_000 }).toBe(3);
    expect(batch.items.map(({ outcome }) => outcome.state)).toEqual(Array(3).fill('stored'));
    expect(batch.isOver()).toBe(false);
    expect(pages.connections).toBe(3);
    expect(worker.stats().queue.running).toBe(0);
    const stranger = await membersOf(servers.nats, 'dead').stranger();
    await expect.poll(() => stranger.tickets()).toBe(0);
    const single = await api.post('/screenshot', { url: pages.page('single') });
    expect(single.status).toBe(200);
  });

  it('has a record and events of each, once', async () => {
    await using pages = await site();
    await using nodes = await nodesOf(servers, 'recorded', LOOPBACK);
    const api = await nodes.api();
    await nodes.worker({ maxConcurrent: 1 });
    await nodes.worker({ maxConcurrent: 1 });
    await expect.poll(() => api.service.stats().dials.max).toBeGreaterThan(0);
    await expect.poll(() => api.service.stats().cluster?.workers).toBe(2);
    const types: string[] = [];
    api.service.events$.subscribe((event) => event.type.startsWith('capture.') && types.push(event.type));
    const dead = `http://127.0.0.1:${await freePort()}/`;
    const batch = batchOf(api, [dead, pages.page('a'), `${dead}2`, pages.page('b')]);
    await expect.poll(batch.isOver, { timeout: 60_000 }).toBe(true);
    expect(types.toSorted()).toEqual(
      ['failed', 'queued', 'started', 'stored'].flatMap((end) =>
        Array(end === 'queued' || end === 'started' ? 4 : 2).fill(`capture.${end}`),
      ),
    );
    const records = await api.service.results.page({ by: 'all', where: {} }, 10);
    expect(records.map(({ failed }) => failed).toSorted()).toEqual([false, false, true, true]);
  });

  it('goes on when the worker that dials is lost', async () => {
    await using pages = await site();
    await using silent = await startSilentListener(['127.0.3.1']);
    await using nodes = await nodesOf(servers, 'lost', LOOPBACK);
    const api = await nodes.api();
    const first = await nodes.worker({ maxConcurrent: 1 });
    await expect.poll(() => api.service.stats().dials.max).toBeGreaterThan(0);
    const batch = batchOf(api, [`http://${silent.targets[0]}/`]);
    await expect.poll(() => first.stats().dials.dialling).toBe(1);
    const second = await nodes.worker({ maxConcurrent: 1 });
    await first.stop(0);
    await expect.poll(() => second.stats().dials.dialling, { timeout: 20_000 }).toBe(1);
    await expect.poll(batch.isOver, { timeout: 60_000 }).toBe(true);
    expect(batch.items.map(({ outcome }) => 'failure' in outcome && outcome.failure.code)).toEqual([
      'target_unreachable',
    ]);
    expect(pages.connections).toBe(0);
  });

  it('ends items with the outcome that a worker was storing when their client left, and others as cancelled', async () => {
    await using silent = await startSilentListener(['127.0.3.1']);
    await using nodes = await nodesOf(servers, 'left', LOOPBACK);
    await using database = await relayTo(`${servers.mongo.url}left`);
    const api = await nodes.api();
    const worker = await nodes.worker({ maxConcurrent: 1, mongoUrl: database.url });
    await expect.poll(() => api.service.stats().dials.max).toBeGreaterThan(0);
    const events: string[] = [];
    const paths = new Map(
      [`http://${silent.targets[0]}/`, `http://127.0.0.1:${await freePort()}/`].map((url, at) => [url, at]),
    );
    api.service.events$.subscribe((event) => {
      if ('url' in event) events.push(`${event.type} ${paths.get(event.url)}`);
    });
    database.silence();
    const batch = batchOf(api, [...paths.keys()]);
    await expect.poll(() => worker.stats().dials).toMatchObject({ dialling: 1, dead: { refused: 1 } });
    batch.leave();
    await expect.poll(() => events).toContain('capture.cancelled 0');
    database.resume();
    await expect.poll(() => events.filter((event) => event.endsWith('1')), { timeout: 60_000 }).toHaveLength(3);
    expect(events.filter((event) => event.endsWith('1'))).toEqual([
      'capture.queued 1',
      'capture.started 1',
      'capture.failed 1',
    ]);
    expect(events.filter((event) => event.endsWith('0'))).toEqual(['capture.queued 0', 'capture.cancelled 0']);
    await expect.poll(() => api.service.results.page({ by: 'all', where: {} }, 10)).toHaveLength(1);
  });
});
