import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BatchLineSchema, BatchResultSchema, FailureSchema } from '../../../src/http/answer/schemas.ts';
import { serviceForSuite, siteForSuite } from '../../support/for-suite.ts';
import { serve } from '../../support/serve.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { failureOf } from '../answers.ts';
import { dial } from '../dial.ts';

const LINES = 'application/x-ndjson';
const MIB = 1024 * 1024;

/** A batch whose answer is read while its body is sent. */
class Exchange {
  readonly sent: ClientRequest;
  readonly #response: Promise<IncomingMessage>;
  #lines: AsyncIterator<string> | undefined;

  constructor(baseUrl: string, path: string, headers: OutgoingHttpHeaders) {
    this.sent = request(`${baseUrl}${path}`, { method: 'POST', headers: { 'Content-Type': LINES, ...headers } });
    this.sent.on('error', () => {});
    this.#response = once(this.sent, 'response').then(([response]) => response);
    this.sent.flushHeaders();
    onTestFinished(() => void this.sent.destroy());
  }

  /** Sends each value as a line of JSON; strings are sent unchanged. */
  send(...lines: unknown[]): void {
    for (const line of lines) this.sent.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }

  response(): Promise<IncomingMessage> {
    return this.#response;
  }

  /** Returns the next line of the answer, undefined at its end. */
  async next(): Promise<unknown> {
    if (this.#lines === undefined) {
      const input = await this.#response;
      input.on('error', () => {});
      this.#lines = createInterface({ input })[Symbol.asyncIterator]();
    }
    const step = await this.#lines.next();
    return step.done === true ? undefined : JSON.parse(step.value);
  }

  async rest(): Promise<unknown[]> {
    const lines: unknown[] = [];
    for (let line = await this.next(); line !== undefined; line = await this.next()) lines.push(line);
    return lines;
  }
}

function exchange(app: { readonly baseUrl: string }, path = '/batch', headers: OutgoingHttpHeaders = {}): Exchange {
  return new Exchange(app.baseUrl, path, headers);
}

const byIndex = (lines: readonly unknown[]) =>
  lines.map((line) => BatchLineSchema.parse(line)).toSorted((a, b) => a.index - b.index);

describe('POST /batch with lines', () => {
  const site = siteForSuite();
  const app = serviceForSuite({ maxConcurrent: 2 }, { maxBatch: 3 });

  it('answers the first line before the last one was sent', async () => {
    const batch = exchange(app);
    const { statusCode, headers } = await batch.response();
    expect([statusCode, headers['content-type']]).toEqual([200, LINES]);
    batch.send({ url: site.url('/short') });
    const first = BatchLineSchema.parse(await batch.next());
    expect(first).toMatchObject({ index: 0, url: site.url('/short'), error: null, result: { failed: false } });

    batch.send({ url: site.url('/404'), format: 'webp' });
    expect(await batch.next()).toMatchObject({ index: 1, result: { response_code: 404, format: 'webp' } });
    batch.sent.end();
    expect(await batch.next()).toBeUndefined();
    expect((await app.call(`/results/${first.result?.id}`)).status).toBe(200);
  });

  it.each(['application/jsonl', 'application/ndjson'])('takes and answers lines by their name %s', async (type) => {
    const headers = { 'Content-Type': `${type}; charset=utf-8`, Accept: type };
    const batch = exchange(app, '/batch', headers);
    batch.send({ url: 'file:///x' });
    batch.sent.end();
    expect((await batch.response()).headers['content-type']).toBe(type);
    expect(await batch.rest()).toEqual([expect.objectContaining({ index: 0, code: 'target_forbidden' })]);
  });

  it('answers more requests than --max-batch, each as soon as it is done', async () => {
    const batch = exchange(app, '/batch?concurrency=2');
    const paths = ['/hang', '/short', '/title?t=a', '/title?t=b', '/title?t=c'];
    batch.send(...paths.map((path) => ({ url: site.url(path), timeoutMs: path === '/hang' ? 6_000 : 30_000 })));
    batch.sent.end();
    const lines = await batch.rest();
    expect(byIndex(lines).map(({ url }) => url)).toEqual(paths.map((path) => site.url(path)));
    expect(byIndex(lines).map(({ code }) => code)).toEqual(['capture_timeout', null, null, null, null]);
    expect(lines.at(0)).not.toMatchObject({ index: 0 });
  });

  it('answers a JSON body with lines, and a body of lines with an array, as Accept asks', async () => {
    const requests = [{ url: site.url('/short') }, { url: 'file:///x' }];
    const response = await app.call('/batch', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: LINES },
      body: JSON.stringify({ requests }),
    });
    expect(response.headers.get('Content-Type')).toBe(LINES);
    const lines = (await response.text()).trimEnd().split('\n');
    expect(byIndex(lines.map((line) => JSON.parse(line))).map(({ code }) => code)).toEqual([null, 'target_forbidden']);

    const asArray = await app.call('/batch', {
      method: 'POST',
      headers: { 'Content-Type': LINES, Accept: 'application/json' },
      body: requests.map((each) => JSON.stringify(each)).join('\n'),
    });
    const items = BatchResultSchema.array().parse(await asArray.json());
    expect(items.map(({ code }) => code)).toEqual([null, 'target_forbidden']);
  });

  it('cancels the batch and its captures when the client disconnects', async () => {
    const requested = site.hits('/hang');
    const { cancelled } = app.service.stats().captures;
    const batch = exchange(app);
    batch.send({ url: site.url('/hang') }, { url: site.url('/hang') }, { url: site.url('/hang') });
    await expect.poll(() => site.hits('/hang')).toBe(requested + 2);
    batch.sent.destroy();
    await expect.poll(() => app.service.stats().queue).toMatchObject({ running: 0, queued: 0 });
    expect(app.service.stats().captures.cancelled).toBe(cancelled + 2);
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
    const { accepted, completed } = app.service.stats().batches;
    expect(completed).toBe(accepted);
    expect(site.hits('/hang')).toBe(requested + 2);
  });

  it('aborts the answer when the sender is silent for too long, with the reason as its last line', async () => {
    const impatient = await serve(app.service, { silenceMs: 50 });
    onTestFinished(() => impatient.close());
    const batch = exchange(impatient);
    batch.send('{"url":1}');
    const response = await batch.response();
    const broken = once(response, 'error');
    expect(await batch.next()).toMatchObject({ index: 0, code: 'invalid_request' });
    expect(FailureSchema.parse(await batch.next())).toMatchObject({ code: 'request_timeout' });
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
  });

  it('sets no time limit for the body until the answer begins', async () => {
    const quick = await serve(app.service, {}, { timeouts: { requestMs: 300 } });
    onTestFinished(() => quick.close());
    const batch = exchange(quick);
    batch.send({ url: site.url('/hang'), timeoutMs: 1_000 });
    expect(await batch.next()).toMatchObject({ index: 0, code: 'capture_timeout' });
    batch.send({ url: 'file:///x' });
    expect(await batch.next()).toMatchObject({ index: 1, code: 'target_forbidden' });

    const refused = exchange(quick, '/screenshot');
    const { statusCode, socket } = await refused.response();
    expect(statusCode).toBe(415);
    if (!socket.destroyed) await once(socket, 'close');
  });

  it('does not count the time of captures as silence of the sender', async () => {
    const impatient = await serve(app.service, { silenceMs: 400 });
    onTestFinished(() => impatient.close());
    const batch = exchange(impatient, '/batch?concurrency=1');
    batch.send({ url: site.url('/hang'), timeoutMs: 1_500 }, { url: 'file:///x' });
    expect(await batch.next()).toMatchObject({ index: 0, code: 'capture_timeout' });
    expect(await batch.next()).toMatchObject({ index: 1, code: 'target_forbidden' });
  });
});

describe('POST /batch with lines, on a service with one slot and a queue of one', () => {
  const site = siteForSuite();
  const small = serviceForSuite({ maxConcurrent: 1, maxQueue: 1 });
  const load = () => {
    const { inside } = small.service.stats().captures;
    const { running, queued } = small.service.stats().queue;
    return { inside, running, queued };
  };

  it('frees slot and queue while batches are silent, and occupies them again when lines arrive', async () => {
    const silent = [exchange(small, '/batch?concurrency=1'), exchange(small, '/batch?concurrency=1')];
    await Promise.all(silent.map((batch) => batch.response()));
    expect(small.service.pressure().accepting).toBe(false);
    await expect.poll(() => small.service.pressure().accepting).toBe(true);
    expect((await small.post('/screenshot', { url: site.url('/short') })).status).toBe(200);

    const others = [exchange(small, '/batch?concurrency=1'), exchange(small, '/batch?concurrency=1')];
    for (const other of others) other.send({ url: site.url('/hang'), timeoutMs: 20_000 });
    await expect.poll(load).toEqual({ inside: 2, running: 1, queued: 1 });
    for (const batch of silent) batch.send({ url: site.url('/short') });
    expect((await small.post('/screenshot', { url: site.url('/short') })).status).toBe(429);

    for (const other of others) other.sent.destroy();
    for (const batch of silent) expect(await batch.next()).toMatchObject({ index: 0, code: null });
    for (const batch of silent) batch.sent.end();
    await expect.poll(load).toEqual({ inside: 0, running: 0, queued: 0 });
  });
});

function compress(body: Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** Without a browser every capture fails at once. */
describe('POST /batch with lines, without a browser', () => {
  const app = serviceForSuite(NO_BROWSER, { maxBatch: 3 });

  async function answered(body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}) {
    const init = { method: 'POST', headers: { 'Content-Type': LINES, ...headers }, body };
    const response = await app.call('/batch', init);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(/^(?:.+\n)*$/);
    return byIndex(text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])));
  }

  it('answers bad lines with failed items that say what is wrong, and captures the others', async () => {
    const tooLong = JSON.stringify({ url: 'https://example.com/', x: 'x'.repeat(1024 * 1024) });
    const bad: [line: string, code: string, says: RegExp, url?: string][] = [
      ['{', 'invalid_json', /not valid JSON/],
      ['[]', 'invalid_request', /a ScreenshotRequest/],
      ['{"url":"example.com","quality":0}', 'invalid_request', /^quality: must be an integer from 1/, 'example.com'],
      ['{"url":"example.com","fullpage":true}', 'invalid_request', /^fullpage: is not a field/, 'example.com'],
      ['{"url":"example.com","__proto__":{}}', 'invalid_request', /^__proto__: is not a field/, 'example.com'],
      [
        '{"url":"x.com","headers":{"__proto__":"1"}}',
        'invalid_request',
        /^headers\.__proto__: is not an accepted name/,
        'x.com',
      ],
      [tooLong, 'invalid_request', /longer than 1048576 bytes/],
      [' '.repeat(1_048_577), 'invalid_request', /longer than 1048576 bytes/],
      ['{"url":"file:///etc/passwd"}', 'target_forbidden', /./, 'file:///etc/passwd'],
      ['{"url":"https://example.com/","timeoutMs":400}', 'browser_unavailable', /./, 'https://example.com/'],
    ];
    const items = await answered(bad.map(([line]) => line).join('\n'));
    expect(items.map(({ code }) => code)).toEqual(bad.map(([, code]) => code));
    for (const [index, [, , says, url = '']] of bad.entries()) {
      expect(items[index]).toMatchObject({ index, url, error: expect.stringMatching(says), result: null });
    }
  });

  it('answers a line that is not UTF-8 with invalid_json', async () => {
    const body = Buffer.concat([Buffer.from('{"url":"https://example.com/'), Buffer.of(0xff), Buffer.from('"}\n{')]);
    expect((await answered(body)).map(({ code }) => code)).toEqual(['invalid_json', 'invalid_json']);
  });

  it('accepts LF and CRLF, and skips blank lines', async () => {
    const url = (name: string) => JSON.stringify({ url: `file:///${name}` });
    const items = await answered(`\uFEFF${url('a')}\r\n\r\n \t \n${url('ü')}\n\n\n${url('c')}`);
    expect(items.map((item) => item.url)).toEqual(['file:///a', 'file:///ü', 'file:///c']);
    expect(await answered('')).toEqual([]);
    expect(await answered('\n \r\n\n')).toEqual([]);
  });

  it('accepts lines of 1 MiB that arrive in any pieces', async () => {
    const longest = JSON.stringify({ url: 'file:///x' }).padEnd(1024 * 1024);
    const batch = exchange(app);
    const bytes = Buffer.from(`${longest}\n${longest}\n{"url":"file:///ü"}`);
    for (let at = 0; at < bytes.length; at += 4_099) batch.sent.write(bytes.subarray(at, at + 4_099));
    batch.sent.end();
    expect(byIndex(await batch.rest()).map(({ code }) => code)).toEqual(Array(3).fill('target_forbidden'));
  });

  it('accepts more than 1 MiB in all, also compressed', async () => {
    const body = `${JSON.stringify({ url: 'file:///x' }).padEnd(60 * 1024)}\n`.repeat(40);
    expect(body.length).toBeGreaterThan(2 * MIB);
    expect(await answered(body)).toHaveLength(40);
    expect(await answered(gzipSync(body), { 'Content-Encoding': 'gzip' })).toHaveLength(40);
  });

  it('aborts the answer when the body does not match its Content-Encoding', async () => {
    const batch = exchange(app, '/batch', { 'Content-Encoding': 'gzip' });
    batch.send('no gzip');
    const broken = once(await batch.response(), 'error');
    expect(await batch.next()).toMatchObject({ success: false, code: 'invalid_json' });
    await broken;
  });

  it.each(['application/json', LINES])('refuses an unknown Content-Encoding with Accept %s', async (accept) => {
    const response = await app.call('/batch', {
      method: 'POST',
      headers: { 'Content-Type': LINES, 'Content-Encoding': 'zstd', Accept: accept },
      body: '{}',
    });
    expect([response.status, (await failureOf(response)).code]).toEqual([415, 'unsupported_media_type']);
  });

  it('answers an array for at most --max-batch lines', async () => {
    const lines = (count: number) => `${JSON.stringify({ url: 'file:///x' })}\n`.repeat(count);
    const init = { method: 'POST', headers: { 'Content-Type': LINES, Accept: 'application/json' } };
    expect(await (await app.call('/batch', { ...init, body: lines(3) })).json()).toHaveLength(3);
    const refused = await app.call('/batch', { ...init, body: lines(4) });
    expect(refused.status).toBe(400);
    expect(await failureOf(refused)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringMatching(/at most 3/),
    });
  });

  it('answers 408 to a silent sender when no line was answered yet', async () => {
    const impatient = await serve(app.service, { silenceMs: 50 });
    onTestFinished(() => impatient.close());
    const batch = exchange(impatient, '/batch', { Accept: 'application/json' });
    expect((await batch.response()).statusCode).toBe(408);
    expect(await batch.next()).toMatchObject({ code: 'request_timeout' });
  });

  it.each(['0', '-1', 'x', '1.5', ''])('refuses the concurrency %j', async (concurrency) => {
    const init = { method: 'POST', headers: { 'Content-Type': LINES }, body: '' };
    const response = await app.call(`/batch?concurrency=${concurrency}`, init);
    expect([response.status, (await failureOf(response)).code]).toEqual([400, 'invalid_request']);
  });

  it('ends the batch after 1,000 bad lines with one item that says so, without an event for each', async () => {
    const events: string[] = [];
    const seen = app.service.events$.subscribe(({ type }) => {
      // Compressing blocks the event loop of this process, which may emit `pressure.changed`.
      if (type !== 'pressure.changed') events.push(type);
    });
    onTestFinished(() => seen.unsubscribe());
    for (const compressed of [false, true]) {
      events.length = 0;
      const body = Buffer.from('{}\n'.repeat(compressed ? (16 * MIB) / 3 : 1_500));
      const items = compressed ? await answered(compress(body), { 'Content-Encoding': 'br' }) : await answered(body);
      expect(items).toHaveLength(1_001);
      expect(items[999]).toMatchObject({
        index: 999,
        code: 'invalid_request',
        error: 'url: is required, unless html is given',
      });
      expect(items[1_000]).toMatchObject({
        index: 1_000,
        code: 'invalid_request',
        error: expect.stringMatching(/^The batch ends here: 1000 lines before this one are bad or /),
      });
      expect(events).toEqual(['batch.accepted', 'batch.completed']);
    }
  });

  it('reads the rest of a batch that has ended, so that the next request on its connection is answered', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = async (path: string, body?: string) => {
      const headers = body === undefined ? {} : { 'Content-Type': LINES };
      const sent = request(`${app.baseUrl}${path}`, { agent, method: body === undefined ? 'GET' : 'POST', headers });
      sent.end(body);
      const [response]: IncomingMessage[] = await once(sent, 'response');
      if (response === undefined) throw new Error('there is a response');
      await response.toArray();
      return [response.statusCode, sent.reusedSocket];
    };
    const line = `${JSON.stringify({ url: `http://10.0.0.1/?${'x'.repeat(800)}` })}\n`;
    expect(await ask('/batch', line.repeat(4_000))).toEqual([200, false]);
    expect(await ask('/livez')).toEqual([200, true]);
  });

  it('ends the batch after 1,000 lines with a forbidden target, because each costs an event', async () => {
    let rejected = 0;
    const seen = app.service.events$.subscribe(({ type }) => {
      if (type === 'capture.rejected') rejected += 1;
    });
    onTestFinished(() => seen.unsubscribe());
    const items = await answered(Buffer.from('{"url":"http://10.0.0.1/"}\n'.repeat(3_000)));
    expect(items[0]).toMatchObject({ index: 0, code: 'target_forbidden' });
    expect(items.at(-1)).toMatchObject({
      code: 'invalid_request',
      error: expect.stringMatching(/^The batch ends here/),
    });
    // Lines that were read ahead are answered, too.
    expect(items.length).toBeLessThan(1_100);
    expect(rejected).toBeLessThan(1_100);
  });

  it.each(['\n', ' '])('aborts the answer when %j inflates to more than 100 times what was sent', async (text) => {
    const bomb = compress(Buffer.alloc(16 * MIB, text));
    expect(bomb.length).toBeLessThan(1_000);
    const batch = exchange(app, '/batch', { 'Content-Encoding': 'br' });
    batch.sent.end(bomb);
    const broken = once(await batch.response(), 'error');
    expect(await batch.next()).toMatchObject({
      success: false,
      code: 'payload_too_large',
      error: expect.stringMatching(/more than 100 times its size/),
    });
    await broken;
  });

  it.each([
    ['bad', '{}\n', 100],
    ['blank', '\n', 100_000],
    ['forbidden', '{"url":"file:///x"}\n', 100],
  ])('lets the event loop turn between lines that are %s', async (_what, line, count) => {
    let turns = 0;
    let counting = true;
    const turn = () => {
      turns += 1;
      if (counting) setImmediate(turn);
    };
    const batch = exchange(app);
    await batch.response();
    turn();
    batch.sent.end(line.repeat(count));
    await batch.rest();
    counting = false;
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  it('slows the sender down while the client does not read the answer', async () => {
    // Sends long items, so that socket buffers fill quickly.
    const item = `${JSON.stringify({ url: `file:///${'x'.repeat(8_000)}` })}\n`;
    const chunk = item.repeat(8);
    const many = 64 * MIB;
    const socket = await dial(app.baseUrl);
    socket.pause();
    socket.write(
      `POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${LINES}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const { refused } = app.service.stats().captures;
    let sent = 0;
    let stuck = false;
    while (sent < many && !stuck) {
      sent += chunk.length;
      const taken = socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      if (!taken) stuck = await isStuck(socket, () => app.service.stats().captures.refused);
    }
    expect(stuck).toBe(true);
    const worked = app.service.stats().captures.refused - refused;
    expect(worked * item.length).toBeLessThan(sent);

    // The rest arrives when the client reads again.
    socket.resume();
    await once(socket, 'drain');
    await expect.poll(() => app.service.stats().captures.refused - refused).toBeGreaterThan(worked);
    socket.destroy();
    await expect.poll(() => app.service.stats().captures.inside).toBe(0);
  });
});

/**
 * Returns whether written bytes stay unread while no more lines are processed. There is no event for this: they count
 * as stuck when none was read, and no line processed, for 300 ms.
 */
async function isStuck(socket: Socket, worked: () => number): Promise<boolean> {
  for (let before = -1, now = worked(); before !== now; now = worked()) {
    before = now;
    const drained = await Promise.race([
      once(socket, 'drain').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
    if (drained) return false;
  }
  return true;
}
