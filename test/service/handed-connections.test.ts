import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type HeldPages, startHeldPages } from '../cluster/held-pages.ts';
import { type Listening, listening } from '../egress/listening.ts';
import { startProxy } from '../support/proxy.ts';
import { type RunningService, serviceConfig, startService } from '../support/service.ts';

/* A capture waits for the only slot, which a page that is held back occupies. Its target is dialled meanwhile. */

const Answer = z.object({ data: z.object({ failed: z.boolean(), timings: z.record(z.string(), z.number()) }) });

let running: RunningService;
let held: HeldPages;
let site: Listening;
let connections: Socket[];
let requests: number;

beforeAll(async () => {
  running = await startService({ maxConcurrent: 1 });
  const server = createServer((_request, response) => {
    requests += 1;
    response.setHeader('Content-Type', 'text/html').end('<link rel="icon" href="data:,"><p>here');
  });
  server.on('connection', (socket) => connections.push(socket));
  site = await listening(server);
});

beforeEach(async () => {
  connections = [];
  requests = 0;
  held = await startHeldPages(Number.POSITIVE_INFINITY);
});

afterAll(async () => {
  await running.stop();
  await site[Symbol.asyncDispose]();
});

/** Occupies the slot. Returns a function that frees it. */
async function occupied(): Promise<() => Promise<void>> {
  const holding = running.post('/screenshot', { url: held.url() });
  await expect.poll(() => held.waiting).toBe(1);
  return async () => {
    held.hold(0);
    await (await holding).arrayBuffer();
    await held[Symbol.asyncDispose]();
  };
}

const page = () => `http://127.0.0.1:${site.port}/`;

async function captured(answer: Promise<Response>) {
  return Answer.parse(await (await answer).json()).data;
}

describe('a capture that waits for a slot', () => {
  it('has its connection already, and makes no other', async () => {
    const free = await occupied();
    const capturing = running.post('/screenshot', { url: page() });
    await expect.poll(() => connections.length).toBe(1);
    expect(requests).toBe(0);
    await free();
    const { failed, timings } = await captured(capturing);
    expect(failed).toBe(false);
    expect(Object.keys(timings)[0]).toBe('dial');
    expect({ requests, connections: connections.length }).toEqual({ requests: 1, connections: 1 });
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });

  it('connects again when the target has closed the connection meanwhile', async () => {
    const free = await occupied();
    const capturing = running.post('/screenshot', { url: page() });
    await expect.poll(() => connections.length).toBe(1);
    connections[0]?.destroy();
    await free();
    expect((await captured(capturing)).failed).toBe(false);
    expect({ requests, connections: connections.length }).toEqual({ requests: 1, connections: 2 });
  });

  it('closes the connection at once when it is cancelled', async () => {
    const free = await occupied();
    const client = new AbortController();
    const capturing = running.post('/screenshot', { url: page() }, { signal: client.signal });
    await expect.poll(() => connections.length).toBe(1);
    client.abort();
    await expect(capturing).rejects.toThrow();
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
    await free();
    expect(requests).toBe(0);
  });

  it('is told of a target that refuses the connection before there is a slot', async () => {
    const free = await occupied();
    const answer = await running.post('/screenshot', { url: 'http://127.0.0.1:1234/' });
    expect(answer.status).toBe(502);
    expect(held.waiting).toBe(1);
    await free();
  });

  it('connects in the browser while --max-dials is 0, which can be changed while it runs', async () => {
    const reload = (maxDials: number) =>
      running.service.reload({ ...serviceConfig(running.directory), maxConcurrent: 1, maxDials });
    reload(0);
    const { timings } = await captured(running.post('/screenshot', { url: page() }));
    expect(timings).not.toHaveProperty('dial');
    reload(256);
    expect((await captured(running.post('/screenshot', { url: page() }))).timings).toHaveProperty('dial');
  });

  it('connects to the proxy of its request', async () => {
    await using proxy = await startProxy();
    const free = await occupied();
    const capturing = running.post('/screenshot', { url: page(), proxy: { server: `http://127.0.0.1:${proxy.port}` } });
    await expect.poll(() => proxy.connections).toBe(1);
    await free();
    expect((await captured(capturing)).failed).toBe(false);
    expect(proxy.connections).toBe(1);
  });
});
