import { once } from 'node:events';
import http from 'node:http';
import net, { type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { targetOf } from '../../src/capture/target.ts';
import { createTargetPolicy, type LiveTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress, EgressProxy } from '../../src/egress/egress.ts';
import { type Listening, listening, namesOf } from './listening.ts';

/* An egress proxy that is given a connection, and a client in the role of the browser. */

/** Longer than a connection is held by a capture that has a slot at once. */
const WAIT_MS = 700;

let policy: LiveTargetPolicy;
let egress: Egress;
let egressProxy: EgressProxy;
let site: Listening;
let connections: Socket[];
/** Answers a connection's first bytes. */
let answer: (socket: Socket, number: number) => void;

beforeEach(async () => {
  connections = [];
  answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
  site = await listening(
    net.createServer((socket) => {
      connections.push(socket);
      const number = connections.length;
      socket.once('data', () => answer(socket, number));
    }),
  );
  policy = createTargetPolicy({ allow: ['127.0.0.1'], deny: [] });
  egress = createEgress({ policy, lookup: namesOf({ 'site.test': ['127.0.0.1'] }) });
  egressProxy = await egress.openEgressProxy();
});

afterEach(async () => {
  await egress.close();
  await site[Symbol.asyncDispose]();
});

const address = () => `site.test:${site.port}`;

async function dialled(): Promise<void> {
  const target = targetOf(`http://${address()}/`);
  egressProxy.reset(undefined, await egress.dial({ target, timeoutMs: 5_000 }, new AbortController().signal));
  await expect.poll(() => connections.length).toBe(1);
}

/** Asks for the page over plain HTTP. */
async function forwarded(): Promise<string> {
  const { hostname, port } = new URL(egressProxy.proxyServer);
  const request = http.request({ host: hostname, port: Number(port), path: `http://${address()}/`, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  return text(response);
}

/** Asks for the page through a tunnel. Returns everything that came after the proxy's answer. */
async function tunnelled(): Promise<string> {
  const { hostname, port } = new URL(egressProxy.proxyServer);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.write(`CONNECT ${address()} HTTP/1.1\r\nHost: ${address()}\r\n\r\n`);
  await once(socket, 'data');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return text(socket);
}

describe.each([
  ['a request', forwarded],
  ['a tunnel', tunnelled],
])('%s to a target that was dialled', (_name, ask) => {
  it('uses the open connection', async () => {
    await dialled();
    expect(await ask()).toContain('hello');
    expect(connections.length).toBe(1);
  });

  it('uses another one when the target closes it, unanswered, at the first request after a wait', async () => {
    answer = (socket, number) =>
      number === 1 ? socket.resetAndDestroy() : socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
    await dialled();
    await delay(WAIT_MS);
    expect(await ask()).toContain('hello');
    expect(connections.length).toBe(2);
  });

  it('is not repeated without such a wait', async () => {
    answer = (socket) => socket.resetAndDestroy();
    await dialled();
    await ask().catch(() => '');
    expect(connections.length).toBe(1);
    expect(egressProxy.failureFor(new URL(`http://${address()}/`))?.code).toBe('target_unreachable');
  });

  it('does not use the connection to a target that was denied meanwhile', async () => {
    await dialled();
    policy.replace({ allow: [], deny: ['site.test'] });
    await ask().catch(() => '');
    expect(egressProxy.failureFor(new URL(`http://${address()}/`))?.code).toBe('target_forbidden');
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });
});

describe('a connection that was dialled', () => {
  it('is closed at the end of a capture that did not use it', async () => {
    await dialled();
    egressProxy.end();
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });

  it('is not opened to a target that is forbidden', async () => {
    const target = targetOf(`http://127.0.0.2:${site.port}/`);
    const dialling = egress.dial({ target, timeoutMs: 5_000 }, new AbortController().signal);
    await expect(dialling).rejects.toMatchObject({ code: 'target_forbidden' });
    expect(egress.dials).toMatchObject({ reached: 0, dialling: 0, dead: { forbidden: 1 } });
  });
});
