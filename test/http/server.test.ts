import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { buffer, json, text } from 'node:stream/consumers';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpServer, listen } from '../../src/http/server.ts';
import type { HttpState } from '../../src/http/state.ts';
import { dial } from './dial.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
/** Larger than the kernel's socket buffers. */
const LARGE_BYTES = 64 * 1024 * 1024;

async function start(app: Koa<HttpState>): Promise<HttpServer> {
  const server = await listen(app, LOOPBACK);
  onTestFinished(() => server.close(0));
  return server;
}

function answering(body: (ctx: Koa.Context) => unknown): Koa<HttpState> {
  return new Koa<HttpState>().use((ctx) => {
    ctx.body = body(ctx);
  });
}

/** Starts a server whose answers wait until the test releases them. */
function gated() {
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const app = new Koa<HttpState>().use(async (ctx) => {
    entered.resolve();
    await gate.promise;
    ctx.body = 'done';
  });
  return { app, entered: entered.promise, open: () => gate.resolve() };
}

function keepAliveAgent(): Agent {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return agent;
}

async function request(address: string, agent?: Agent): Promise<IncomingMessage> {
  const sent = get(address, agent === undefined ? {} : { agent });
  const [response] = await once(sent, 'response');
  return response;
}

describe('listen', () => {
  it('chooses a free port for 0, and returns its address', async () => {
    const { address } = await start(answering(() => 'here'));
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(await (await fetch(address)).text()).toBe('here');
  });

  it('rejects when the port is taken', async () => {
    const { address } = await start(new Koa<HttpState>());
    const taken = listen(new Koa<HttpState>(), { host: '127.0.0.1', port: Number(new URL(address).port) });
    await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('stops accepting when it is closed, and closes idle connections at once', async () => {
    const server = await start(answering(() => 'x'));
    const response = await request(server.address, keepAliveAgent());
    const { socket } = response;
    await text(response);
    const closedByServer = once(socket, 'close');
    await server.close(60_000);
    await closedByServer;
    await expect(fetch(server.address)).rejects.toThrow();
  });

  it('finishes a running request when it is closed, then closes its connection', async () => {
    const { app, entered, open } = gated();
    const server = await start(app);
    const answer = request(server.address, keepAliveAgent());
    await entered;
    const closed = server.close(60_000);
    open();
    const response = await answer;
    expect(response.headers.connection).toBe('close');
    expect(await text(response)).toBe('done');
    await closed;
  });

  it('sends all of an answer to a slow reader when it is closed', async () => {
    const server = await start(answering(() => Buffer.alloc(LARGE_BYTES)));
    const response = await request(server.address, keepAliveAgent());
    const closed = server.close(60_000);
    expect((await buffer(response)).length).toBe(LARGE_BYTES);
    await closed;
  });

  it('aborts a request after the grace period when it is closed', async () => {
    const { app, entered } = gated();
    const server = await start(app);
    const answer = request(server.address);
    const broken = expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    await entered;
    await server.close(1);
    await broken;
  });

  it('does not wait for a connection without a request when it is closed', async () => {
    const server = await start(new Koa<HttpState>());
    const socket = await dial(server.address);
    const ended = once(socket, 'close');
    await server.close(60_000);
    socket.resume();
    await ended;
  });

  it('answers invalid HTTP with an envelope', async () => {
    const { address } = await start(new Koa<HttpState>());
    const socket = await dial(address);
    socket.write('HELLO\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const requestId = /^X-Request-Id: (.+)$/m.exec(answer)?.[1];
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      success: false,
      code: 'invalid_request',
      request_id: requestId?.trim(),
    });
  });

  it('accepts the longest URL of by-url, and names the size limit of a request head', async () => {
    const { address } = await start(answering((ctx) => String(ctx.querystring.length)));
    expect(await (await fetch(`${address}/?${'%41'.repeat(8192)}`)).text()).toBe(String(3 * 8192));
    const tooLong = await request(`${address}/?${'x'.repeat(70_000)}`);
    expect(tooLong.statusCode).toBe(400);
    expect(await json(tooLong)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('65536 bytes'),
    });
  });

  it('leaves a request without a Host header to the application', async () => {
    const { address } = await start(answering(() => 'x'));
    const socket = await dial(address);
    socket.write('GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
