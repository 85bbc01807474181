import type { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jsonBody } from '../../src/http/request/json-body.ts';
import { type HttpServer, type ListenOptions, listen } from '../../src/http/server.ts';
import type { HttpState } from '../../src/http/state.ts';
import { dial } from './dial.ts';

/** A limit that is never reached, so that the short limit under test applies alone. */
const NEVER = 600_000;
const PATIENT = { headMs: NEVER, requestMs: NEVER, keepAliveMs: NEVER, stallMs: NEVER, checkMs: 20 };
/** Larger than the kernel's socket buffers. */
const LARGE_BYTES = 64 * 1024 * 1024;

/**
 * Longer than the 1 s that Node.js adds to the keep-alive timeout. Shorter than the default timeout of 5 s, which must
 * not be the one that disconnects.
 */
const SOON = { timeout: 4_500 };

async function start(app: Koa<HttpState>, options: Partial<ListenOptions>): Promise<HttpServer> {
  // These tests break answers on purpose; logging them would be noise.
  app.silent = true;
  const timeouts = { ...PATIENT, ...options.timeouts };
  const server = await listen(app, { host: '127.0.0.1', port: 0, ...options, timeouts });
  onTestFinished(() => server.close(0));
  return server;
}

function answering(body: () => unknown): Koa<HttpState> {
  return new Koa<HttpState>().use((ctx) => {
    ctx.body = body();
  });
}

/** Sends a request and never reads the answer. */
async function askAndStare(server: HttpServer, path = '/'): Promise<Socket> {
  const socket = await dial(server.address);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

describe('slow clients', () => {
  it('answers and disconnects a client that does not send its head in time', async () => {
    const server = await start(new Koa<HttpState>(), { timeouts: { headMs: 50 } });
    const [halfway, mute] = [await dial(server.address), await dial(server.address)];
    halfway.write('GET / HTTP/1.1\r\nX-Slow: ');
    for (const answer of [await text(halfway), await text(mute)]) {
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('did not arrive in time');
    }
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('answers and disconnects a client that does not send its body in time', async () => {
    const reading = Promise.withResolvers<unknown>();
    const app = new Koa<HttpState>().use((_ctx, next) => next().catch(reading.resolve));
    app.use(jsonBody());
    const server = await start(app, { timeouts: { headMs: 500, requestMs: 500 } });
    const socket = await dial(server.address);
    socket.write(`${POST}Content-Length: 1000\r\n\r\n{`);
    expect(await text(socket)).toContain('did not arrive in time');
    expect(await reading.promise).toBeInstanceOf(Error);
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('disconnects a client that keeps sending a body after its answer, without a second answer', async () => {
    const server = await start(
      answering(() => 'no thanks'),
      { timeouts: { headMs: 500, requestMs: 500 } },
    );
    const socket = await dial(server.address);
    socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    const sending = setInterval(() => socket.write('1\r\n \r\n'), 10);
    onTestFinished(() => clearInterval(sending));
    const answer: Buffer[] = [];
    socket.on('data', (chunk) => answer.push(chunk));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(String(Buffer.concat(answer)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  it('closes our side of a connection whose client keeps its side open', async () => {
    const server = await start(new Koa<HttpState>(), { timeouts: { stallMs: 500 } });
    const socket = await dial(server.address, { allowHalfOpen: true });
    socket.write('HELLO\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    expect(socket.writable).toBe(true);
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('disconnects a client that stays idle after its answer', async () => {
    const server = await start(
      answering(() => 'x'),
      { timeouts: { keepAliveMs: 50 } },
    );
    const socket = await dial(server.address, { allowHalfOpen: true });
    socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('disconnects a client that does not read a large answer', async () => {
    const server = await start(
      answering(() => Buffer.alloc(LARGE_BYTES)),
      { timeouts: { stallMs: 50 } },
    );
    await askAndStare(server);
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('disconnects a client that does not read a streamed list, and stops reading the list', async () => {
    const ended = Promise.withResolvers<void>();
    async function* endless() {
      try {
        for (;;) yield 'x'.repeat(1000);
      } finally {
        ended.resolve();
      }
    }
    const server = await start(
      answering(() => Readable.from(endless(), { objectMode: false })),
      { timeouts: { stallMs: 50 } },
    );
    await askAndStare(server);
    await ended.promise;
    await expect.poll(() => server.connections, SOON).toBe(0);
  });

  it('does not disconnect a client that waits for the next part of an answer', async () => {
    const list = new PassThrough();
    const app = new Koa<HttpState>().use((ctx) => {
      ctx.body = ctx.path === '/list' ? list : Buffer.alloc(LARGE_BYTES);
    });
    const server = await start(app, { timeouts: { stallMs: 250 } });
    list.write('[');
    const response = await fetch(`${server.address}/list`);
    // Each of these clients is disconnected after `stallMs`. Meanwhile nothing of the list is sent.
    for (const _each of [1, 2, 3]) {
      await askAndStare(server, '/large');
      await expect.poll(() => server.connections, SOON).toBe(1);
    }
    list.end(']');
    expect(await response.json()).toEqual([]);
  });

  it('closes new connections above the limit at once, until another connection ends', async () => {
    const server = await start(
      answering(() => 'x'),
      { maxConnections: 2 },
    );
    const [first] = [await dial(server.address), await dial(server.address)];
    await expect.poll(() => server.connections, SOON).toBe(2);
    const third = await dial(server.address);
    third.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await text(third).catch(() => '')).toBe('');
    first?.destroy();
    await expect.poll(() => server.connections, SOON).toBe(1);
    expect(await (await fetch(server.address)).text()).toBe('x');
  });
});
