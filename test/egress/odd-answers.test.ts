import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress, EgressProxy } from '../../src/egress/egress.ts';
import { BODY, HEADLESS, type Reading, SHAPES } from './answer-shapes.ts';
import { type Listening, listening } from './listening.ts';

let egress: Egress;
let egressProxy: EgressProxy;
let site: Listening;
/** The answer to each request, in the pieces in which it is sent. */
let pieces: readonly string[];
let endsConnection: boolean;
let connections: number;
let open: Set<net.Socket>;

beforeEach(async () => {
  connections = 0;
  open = new Set();
  endsConnection = true;
  site = await listening(
    net.createServer((socket) => {
      connections += 1;
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.setNoDelay(true);
      socket.on('data', () => {
        for (const piece of pieces) socket.write(piece, 'latin1');
        if (endsConnection) socket.end();
      });
    }),
  );
  egress = createEgress({ policy: createTargetPolicy({ allow: ['127.0.0.0/8'], deny: [] }) });
  egressProxy = await egress.openEgressProxy();
});

afterEach(async () => {
  await egress.close();
  await site[Symbol.asyncDispose]();
});

async function ask(url = `http://127.0.0.1:${site.port}/`): Promise<http.IncomingMessage> {
  const { hostname, port } = new URL(egressProxy.proxyServer);
  const request = http.request({ host: hostname, port, path: url, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  return response;
}

async function reading(url?: string): Promise<Reading> {
  const response = await ask(url).catch(() => null);
  if (response === null) return 'refused';
  const body = await text(response).catch(() => null);
  if (body === null) return 'broken';
  return response.statusCode === 200 && body === BODY ? 'whole' : [response.statusCode ?? 0, body];
}

describe('an answer over plain HTTP', () => {
  it.each(SHAPES)('is read as Chromium reads it: %s', async (_what, answer, expected) => {
    pieces = [answer];
    expect(await reading()).toEqual(expected);
  });

  it.each(HEADLESS)('is read on port 80 as Chromium reads it: %s', async (_what, answer, expected) => {
    pieces = [...answer];
    // A proxy, because only root may listen on port 80.
    egressProxy.reset({ server: `http://127.0.0.1:${site.port}` });
    expect(await reading('http://127.0.0.1/')).toEqual(expected);
  });

  it.each([
    ['in a chunk', `3\r\nabc\r\n4\r\ndefg\r\nzz\r\nmore`],
    ['longer than its size', `3\r\nabc\r\n4\r\ndefg<p>\r\n0\r\n\r\n`],
    ['in a line that is too long', `7\r\nabcdefg\r\n${'1'.repeat(17 * 1024)}`],
  ])('breaks off after the valid bytes of the packet that is invalid %s', async (_where, body) => {
    pieces = [`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`];
    const response = await ask();
    let received = '';
    response.setEncoding('utf8').on('data', (data: string) => (received += data));
    const [error] = await once(response, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(received).toBe('abcdefg');
  });

  it('is read alike when it comes byte by byte', async () => {
    pieces = [...`\r\nhttp/1.1\t200\r\nX : 1\r\njunk\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`];
    expect(await reading()).toBe('whole');
    pieces = [
      ...`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)} \n${BODY}\n0;x\r\ny\n\r\n`,
    ];
    expect(await reading()).toBe('whole');
  });

  it('ends its connection when it is irregular, and leaves regular ones open', async () => {
    endsConnection = false;
    pieces = [`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`];
    await reading();
    await reading();
    expect(connections).toBe(1);
    pieces = [`HTTP/1.1 200OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`];
    expect(await reading()).toBe('whole');
    expect(connections).toBe(1);
    expect(await reading()).toBe('whole');
    expect(connections).toBe(2);
    const size = BODY.length.toString(16);
    const inChunks = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${BODY}\r\n0\r\n\r\n`;
    pieces = [inChunks];
    await reading();
    expect(await reading()).toBe('whole');
    expect(connections).toBe(3);
    pieces = [inChunks.replace(`${size}\r\n`, `${size}\n`)];
    expect(await reading()).toBe('whole');
    expect(connections).toBe(3);
    expect(await reading()).toBe('whole');
    expect(connections).toBe(4);
  });

  it('gives no bytes after its end to the next request', async () => {
    endsConnection = false;
    const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled';
    const size = BODY.length.toString(16);
    for (const [index, answer] of [
      `HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${BODY}\r\n0\r\n\r\n`,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${BODY}\r\n0\n\n`,
    ].entries()) {
      pieces = [answer + smuggled];
      expect(await reading()).toBe('whole');
      expect(await reading()).toBe('whole');
      expect(connections).toBe(2 * index + 2);
    }
  });

  it('gives no bytes that come later to the next request', async () => {
    endsConnection = false;
    pieces = [`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`];
    expect(await reading()).toBe('whole');
    for (const socket of open) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled');
    await expect.poll(() => open.size).toBe(0);
    expect(await reading()).toBe('whole');
  });

  it('is refused when its head is longer than 256 KiB', async () => {
    pieces = [`HTTP/1.1 200OK\r\nX: ${'a'.repeat(300 * 1024)}\r\n\r\n${BODY}`];
    expect(await reading()).toBe('refused');
  });

  it.each(['http 100\n\n', 'HTTP/1.1 100\r\n\r\n'])(
    'is refused after 400 KiB of interim answers: %j',
    async (interim) => {
      pieces = [interim.repeat((400 * 1024) / interim.length), `HTTP/1.1 200 OK\r\n\r\n${BODY}`];
      expect(await reading()).toBe('refused');
    },
  );

  it('breaks off when its trailers are longer than 256 KiB together', async () => {
    const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n`;
    pieces = [answer, 'x\n'.repeat(100 * 1024), '\r\n'];
    expect(await reading()).toBe('whole');
    pieces = [answer, 'x\n'.repeat(200 * 1024), '\r\n'];
    expect(await reading()).toBe('broken');
  });
});

describe('the limit of bytes of a capture', () => {
  const LIMIT = 64 * 1024;
  const IN_CHUNKS = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const END = '0\r\n\r\n';

  beforeEach(async () => {
    await egress.close();
    egress = createEgress({ policy: createTargetPolicy({ allow: ['127.0.0.0/8'], deny: [] }), maxBytes: LIMIT });
    egressProxy = await egress.openEgressProxy();
  });

  it.each([
    ['the sizes of chunks', `${IN_CHUNKS}${'1\r\na\r\n'.repeat(LIMIT / 4)}${END}`],
    ['extensions of chunks', `${IN_CHUNKS}${`1;${'x'.repeat(1024)}\r\na\r\n`.repeat(100)}${END}`],
    ['trailers', `${IN_CHUNKS}1\r\na\r\n0\r\n${'x\n'.repeat(LIMIT)}\r\n`],
    ['interim answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(LIMIT / 16)}${IN_CHUNKS}1\r\na\r\n${END}`],
    ['heads', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100 * 1024)}\r\n\r\n`],
  ])('applies to %s', async (_what, answer) => {
    pieces = [answer];
    expect(['broken', 'refused']).toContain(await reading());
    expect(egressProxy.failureFor(new URL(`http://127.0.0.1:${site.port}/`))?.reason).toContain(
      `more than ${LIMIT} bytes`,
    );
  });
});

it('closes the connection of a request for an impossible host', async () => {
  await expect(ask('http://exa%20mple/')).rejects.toThrow('socket hang up');
});

it('passes on all valid chunks of 4 MiB, before one that is invalid, to a client that reads late', async () => {
  const chunk = `400\r\n${'a'.repeat(1024)}\r\n`;
  pieces = ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', chunk.repeat(4096), 'zz\r\nmore'];
  const response = await ask();
  await delay(300);
  let bytes = 0;
  response.on('data', (data: Buffer) => {
    bytes += data.length;
  });
  const [error] = await once(response, 'error');
  expect([bytes, error.code]).toEqual([4 * 1024 * 1024, 'ECONNRESET']);
});
