import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { failureOf } from '../answers.ts';

const MIB = 1024 * 1024;
/** A body that is answered without a capture and can be padded to any size. */
const EMPTY_BATCH = '{"requests":[]}';

const app = serviceForSuite(NO_BROWSER);

function postBatch(body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): Promise<Response> {
  return app.call('/batch', { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
}

function padded(bytes: number): string {
  return EMPTY_BATCH + ' '.repeat(bytes - EMPTY_BATCH.length);
}

describe('jsonBody', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.capstan+json',
    'application/ld+json;profile=x',
  ])('accepts the Content-Type %s', async (type) => {
    const response = await postBatch(EMPTY_BATCH, { 'Content-Type': type });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual([]);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'text/json',
    'application/jsonp',
    'multipart/form-data',
    'json',
  ])('refuses the Content-Type %s', async (type) => {
    const response = await postBatch(EMPTY_BATCH, { 'Content-Type': type });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({
      code: 'unsupported_media_type',
      error: expect.stringContaining('application/json'),
    });
  });

  it.each([
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/x-ndjson;charset=x',
  ])('refuses the charset of %s, and accepts UTF-8 by each name', async (type) => {
    const response = await postBatch(EMPTY_BATCH, { 'Content-Type': type });
    expect(response.status).toBe(415);
    expect(await failureOf(response)).toMatchObject({
      code: 'unsupported_media_type',
      error: expect.stringContaining('UTF-8'),
    });
    for (const name of ['utf8', '"UTF-8"', 'us-ascii']) {
      const accepted = await postBatch(EMPTY_BATCH, { 'Content-Type': `application/json; charset=${name}` });
      expect(accepted.status).toBe(200);
    }
  });

  it.each(['/batch', '/screenshot', '/watches', '/queries', '/captures/stability', '/mcp'])(
    'refuses a body of %s that is not UTF-8, compressed too',
    async (path) => {
      const body = Buffer.from('{"url":"http://127.0.0.1/caf\u00e9"}', 'latin1');
      for (const [sent, coding] of [
        [body, 'identity'],
        [gzipSync(body), 'gzip'],
      ] as const) {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding, Accept: '*/*' };
        const response = await app.call(path, { method: 'POST', headers, body: sent });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ code: 'invalid_json', error: 'The body is not UTF-8.' });
      }
    },
  );

  it('reads a byte order mark, letters of all planes, and U+FFFD where it was sent', async () => {
    const response = await postBatch('\uFEFF{"requests":[],"\u00e9 \u{1f600} \uFFFD":1}');
    expect(response.status).toBe(400);
    expect((await failureOf(response)).error).toContain('\u00e9 \u{1f600} \uFFFD: ');
  });

  it('refuses a missing Content-Type and a missing body', async () => {
    for (const body of [new TextEncoder().encode(EMPTY_BATCH), undefined]) {
      const response = await app.call('/batch', { method: 'POST', ...(body === undefined ? {} : { body }) });
      expect(response.status).toBe(415);
    }
  });

  it.each(['', ' \n', '{', '{"requests":[]}}', "{'requests':[]}", '{"requests":[],}', 'undefined', 'NaN'])(
    'answers invalid_json for %j',
    async (body) => {
      for (const path of ['/batch', '/screenshot']) {
        const headers = { 'Content-Type': 'application/json' };
        const response = await app.call(path, { method: 'POST', headers, body });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ success: false, code: 'invalid_json' });
      }
    },
  );

  it.each(['null', '[]', '42', '"https://example.com/"', 'true'])(
    'answers invalid_request for JSON that is not an object: %s',
    async (body) => {
      const response = await postBatch(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'invalid_request', data: { problems: [{ path: '' }] } });
    },
  );

  it('names every invalid field with its path, in the text and as data', async () => {
    const response = await app.post('/batch', { requests: [{ url: 'x.com' }, { url: 3, size: 1 }, {}] });
    expect(response.status).toBe(400);
    const { error, data } = await failureOf(response);
    const paths = ['requests[1].url', 'requests[1].size', 'requests[2].url'];
    for (const path of paths) expect(error).toContain(`${path}: `);
    expect(data?.problems?.map((problem) => problem.path)).toEqual(paths);
  });

  it.each(['{"__proto__":{"x":1},"requests":[]}', '{"requests":[{"url":"x.com","__proto__":null}]}'])(
    'refuses a key that could pollute a prototype: %s',
    async (body) => {
      const response = await postBatch(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'invalid_request',
        error: expect.stringContaining('__proto__'),
      });
      expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
    },
  );

  it('looks for the first of such keys alone, because a body may have thousands of them', async () => {
    const params = `{"a":[[[{"__proto__":0},{"__proto__":0}],{"__proto__":0}]]}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`;
    const headers = { 'Content-Type': 'application/json', Accept: '*/*' };
    const refused = await app.call('/mcp', { method: 'POST', headers, body });
    expect([refused.status, (await failureOf(refused)).data?.problems]).toEqual([
      400,
      [{ path: 'params.a[0][0][0].__proto__' }],
    ]);
  });

  it('accepts 1 MiB and refuses one byte more', async () => {
    expect((await postBatch(padded(MIB))).status).toBe(200);
    const response = await postBatch(padded(MIB + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ success: false, code: 'payload_too_large' });
  });

  it('refuses a body with many or deep values before it is parsed, and counts none in texts', async () => {
    const error = 'must have at most 60000 names, list elements, lists and objects, and at most 200 levels';
    const bodies = [
      JSON.stringify({ requests: Array.from({ length: 20_000 }, (_, at) => ({ [`n${at}`]: 1 })) }),
      `{"requests":[${'[],'.repeat(30_000)}[]]}`,
      `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`,
    ];
    for (const body of bodies) {
      for (const path of ['/batch', '/mcp']) {
        const headers = { 'Content-Type': 'application/json', Accept: '*/*' };
        const refused = await app.call(path, { method: 'POST', headers, body });
        expect([refused.status, await failureOf(refused)]).toEqual([
          400,
          expect.objectContaining({ code: 'invalid_request', error }),
        ]);
      }
    }
    for (const text of [':'.repeat(100_000), '\\":'.repeat(50_000), `${'\\'.repeat(100_000)}":"`]) {
      const read = await failureOf(await postBatch(JSON.stringify({ requests: text })));
      expect(read.error).toMatch(/^requests: /);
    }
  });

  it('applies the limit to a body without Content-Length', async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    let left = 64;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    });
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      duplex: 'half',
    };
    expect((await app.call('/batch', init)).status).toBe(413);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('decompresses %s, and applies the limit to the decompressed body', async (encoding, compress) => {
    const small = await postBatch(compress(EMPTY_BATCH), { 'Content-Encoding': encoding });
    expect(small.status).toBe(200);
    expect(await small.json()).toEqual([]);
    const bomb = await postBatch(compress(padded(4 * MIB)), { 'Content-Encoding': encoding });
    expect(bomb.status).toBe(413);
  });

  it('answers invalid_json when the body does not match its Content-Encoding', async () => {
    const response = await postBatch(EMPTY_BATCH, { 'Content-Encoding': 'gzip' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_json' });
    const cut = gzipSync(padded(1000));
    expect((await postBatch(cut.subarray(0, cut.length - 10), { 'Content-Encoding': 'gzip' })).status).toBe(400);
  });

  it.each(['zstd', 'compress', 'gzip, gzip', 'x'])('refuses the Content-Encoding %s', async (encoding) => {
    expect((await postBatch(EMPTY_BATCH, { 'Content-Encoding': encoding })).status).toBe(415);
  });

  it('keeps the connection usable after a refused body', async () => {
    const { hostname, port } = new URL(app.baseUrl);
    const { Agent } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (body: string, headers: Record<string, string>) =>
      new Promise<{ status: number | undefined; port: number | undefined; body: unknown }>((resolve, reject) => {
        const options = { hostname, port, path: '/batch', method: 'POST', agent, headers };
        const sent = request(options, async (response) => {
          const localPort = response.socket.localPort;
          resolve({ status: response.statusCode, port: localPort, body: await json(response) });
        });
        sent.on('error', reject).end(body);
      });
    try {
      const large = await post(padded(8 * MIB), { 'Content-Type': 'application/json' });
      const wrong = await post(padded(8 * MIB), { 'Content-Type': 'text/plain' });
      const right = await post(EMPTY_BATCH, { 'Content-Type': 'application/json' });
      expect([large.status, wrong.status, right.status]).toEqual([413, 415, 200]);
      expect(new Set([large.port, wrong.port, right.port]).size).toBe(1);
    } finally {
      agent.destroy();
    }
  });
});
