import { describe, expect, it } from 'vitest';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const site = siteForSuite();
const app = serviceForSuite();
const BOTH = 'application/json, text/event-stream';

async function send(message: unknown, headers: Readonly<Record<string, string>> = { Accept: BOTH }) {
  const response = await app.call('/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, text: /^data: (.*)$/m.exec(text)?.[1] ?? text };
}

const call = (name: string, given: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});

describe('POST /mcp', () => {
  it.each(['capstan://captures/999999/image', 'capstan://captures/999999/markdown', 'capstan://captures/1/html'])(
    'answers with the code of the protocol that there is no resource %s',
    async (uri) => {
      const { text } = await send({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } });
      expect(JSON.parse(text).error).toMatchObject({
        code: expect.toSatisfy((code) => [-32002, -32602].includes(code)),
      });
    },
  );

  it.each(['*/*', '', 'application/*, text/*', 'text/event-stream;q=0.5, */*;q=0.1'])(
    'accepts Accept: %s',
    async (Accept) => {
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await send(ping, { Accept })).status).toBe(200);
    },
  );

  it.each(['application/json', 'application/json, text/event-stream;q=0'])(
    'refuses an Accept that takes no stream, as the protocol says: %s',
    async (Accept) => {
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await send(ping, { Accept })).status).toBe(406);
    },
  );

  it('takes null for an optional argument that is left out, and not for one that is required', async () => {
    const found = await send(call('find', { host: null, limit: null }));
    expect(JSON.parse(found.text).result).toMatchObject({ structuredContent: expect.any(Object) });
    const { text } = await send(call('capture', { url: null }));
    expect(text).toContain('url');
    expect(JSON.parse(text).result?.structuredContent).toBeUndefined();
  });

  const long = 'x'.repeat(257);
  const initialize = (clientInfo: object) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  it.each([
    ['id', { jsonrpc: '2.0', id: long, method: 'ping' }],
    ['method', { jsonrpc: '2.0', id: 1, method: long }],
    ['params.requestId', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: long } }],
    ['params._meta.progressToken', { ...call('find', {}), params: { name: 'find', _meta: { progressToken: long } } }],
    ['params.clientInfo.name', initialize({ name: long, version: '1' })],
    ['params.clientInfo.version', initialize({ name: 'test', version: long })],
  ])('refuses a message whose %s has more than 256 characters', async (path, message) => {
    const { status, text } = await send(message);
    expect(status).toBe(400);
    const problem = { path, message: 'must have at most 256 characters' };
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', data: { problems: [problem] } });
  });

  it('refuses a session id of more than 256 characters', async () => {
    const { status, text } = await send(
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { Accept: BOTH, 'Mcp-Session-Id': long },
    );
    expect([status, JSON.parse(text).code]).toEqual([400, 'invalid_request']);
  });

  it('takes null for arguments and params that are left out', async () => {
    const found = await send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'find', arguments: null },
    });
    expect(JSON.parse(found.text).result).toMatchObject({ structuredContent: expect.any(Object) });
    const listed = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: null });
    expect(JSON.parse(listed.text).result).toMatchObject({ tools: expect.any(Array) });
  });

  it('refuses a batch with an error of JSON-RPC', async () => {
    const { status, text } = await send([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect([status, JSON.parse(text)]).toMatchObject([400, { jsonrpc: '2.0', id: null, error: { code: -32600 } }]);
  });

  it('gives links by the scheme and the path that a proxy says', async () => {
    await app.post('/screenshot', { url: site.url('/short') });
    const proxy = { Accept: BOTH, 'X-Forwarded-Proto': 'https, http', 'X-Forwarded-Prefix': '/capstan/' };
    const { text } = await send(call('find', { host: '127', limit: 1 }), proxy);
    const [{ image, details }] = JSON.parse(text).result.structuredContent.captures;
    const at = app.baseUrl.replace('http:', 'https:');
    expect(image).toMatch(new RegExp(`^${at}/capstan/screenshot/\\d+$`));
    expect(details).toMatch(new RegExp(`^${at}/capstan/results/\\d+$`));
  });
});

it.each(['nonsense', '/', '//evil.example', '/a b', '/../x"'])(
  'takes no prefix from X-Forwarded-Prefix: %s',
  async (prefix) => {
    const headers = { 'X-Forwarded-Prefix': prefix };
    const { headers: answered } = await app.post('/watches', { url: site.url('/short'), every: '300d' }, { headers });
    expect(answered.get('Location')).toMatch(/^\/watches\/\d+$/);
  },
);

it('names a new watch by the path that a proxy says', async () => {
  const headers = { 'X-Forwarded-Prefix': '/capstan' };
  const { headers: answered } = await app.post('/watches', { url: site.url('/short'), every: '300d' }, { headers });
  expect(answered.get('Location')).toMatch(/^\/capstan\/watches\/\d+$/);
});
