import { once } from 'node:events';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { capstan, ground, launch, lineOf } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';
import { connectProgram, connectProgramEarlier, expectCancelled } from './clients.ts';

const KEYS = (['read', 'capture', 'admin'] as const).map((scope) => {
  return { name: scope, key: `${scope}-key`, rate: null, scope };
});

const site = siteForSuite();
const app = serviceForSuite({}, { apiKey: KEYS.map(({ key }) => key), namedKeys: KEYS });

/**
 * Adds a watch of the key with the scope `admin`, and waits for its first run: its events come among those of others.
 */
async function watchOfAdmin(): Promise<number> {
  const headers = { Authorization: 'Bearer admin-key' };
  const run = app.next('watch.run');
  const watched = await app.post('/watches', { url: site.url('/short'), every: '1d' }, { headers });
  await run;
  return z.object({ data: z.object({ id: z.number() }) }).parse(await watched.json()).data.id;
}

const Called = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.looseObject({ id: z.number().optional() }).optional(),
});

it('captures with a service of its own, which ends with its browsers when the client closes the input', async () => {
  const place = await ground();
  const client = await connectProgram(['--allow-targets', '127.0.0.1/32'], place.options);
  const { structuredContent } = await client.callTool({ name: 'read', arguments: { url: site.url('/short') } });
  expect(structuredContent).toMatchObject({ untrusted: { text: expect.stringContaining('deep water') } });
  const shot = await client.callTool({ name: 'capture', arguments: { url: site.url('/short') } });
  // The client cannot reach this service by URLs.
  const { image } = z.looseObject({ image: z.string() }).parse(shot.structuredContent);
  expect(image).toMatch(/^capstan:\/\/captures\/\d+\/image$/);
  expect((await client.readResource({ uri: image })).contents).toMatchObject([{ mimeType: 'image/webp' }]);
  expect(await place.browsers()).not.toEqual([]);
  await client.close();
  await expect.poll(() => place.browsers()).toEqual([]);
});

it.each([
  ['of the newest revision', connectProgram],
  ['of the revision of 2025', connectProgramEarlier],
])('lets a client %s list, call, cancel and read with the service of --server', async (_revision, connected) => {
  const place = await ground();
  const client = await connected(['--server', app.baseUrl, '--api-key', 'capture-key'], place.options);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  const shot = await client.callTool({ name: 'capture', arguments: { url: site.url('/short') } });
  const id = Called.parse(shot).structuredContent?.id;
  const stored = await app.call(`/results/${id}`, { headers: { Authorization: 'Bearer read-key' } });
  expect(stored.status).toBe(200);
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain(`capstan://captures/${id}/markdown`);
  expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
  expect((await client.readResource({ uri: `capstan://captures/${id}/markdown` })).contents).toMatchObject([
    { text: expect.stringContaining('deep water') },
  ]);
  const others = { name: 'unwatch', arguments: { watch: await watchOfAdmin() } };
  expect(Called.parse(await client.callTool(others))).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^not_found: /) }],
  });
  await expectCancelled(client, { baseUrl: app.baseUrl, url: site.url('/hang'), key: 'capture-key' });
  await expect.poll(() => place.browsers()).toEqual([]);
  await client.close();
});

it.each([
  ['read', { capture: /^key_not_permitted: .*needs the scope capture/, unwatch: /^key_not_permitted: / }],
  ['admin', {}],
] as const)(
  'refuses what a key of the scope %s does not permit',
  async (scope, refusals: Readonly<Record<string, RegExp>>) => {
    const watch = await watchOfAdmin();
    const place = await ground();
    const client = await connectProgram(['--server', app.baseUrl], {
      ...place.options,
      env: { ...place.options.env, CAPSTAN_API_KEY: `${scope}-key` },
    });
    const calls = { find: {}, capture: { url: site.url('/short') }, unwatch: { watch } };
    for (const [name, given] of Object.entries(calls)) {
      const { isError = false, content } = Called.parse(await client.callTool({ name, arguments: given }));
      const refusal = refusals[name];
      expect([name, isError]).toEqual([name, refusal !== undefined]);
      if (refusal !== undefined) expect(content[0]?.text).toMatch(refusal);
    }
    await client.close();
  },
);

it('writes nothing but messages to standard output, and exits with 0 when the input ends', async () => {
  const place = await ground();
  const { child, stdout } = launch(['mcp'], place.options);
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
  child.stdin?.write(`${JSON.stringify(message)}\n`);
  const [answer] = await once(child.stdout ?? process.stdin, 'data');
  child.stdin?.end();
  const [code] = await once(child, 'close');
  expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { serverInfo: { name: 'capstan' } } });
  expect([code, (await stdout).trim().split('\n')]).toEqual([0, [String(answer).trim()]]);
});

it('answers lines that are no message with an error of JSON-RPC, and goes on', async () => {
  const { options } = await ground();
  const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
  const lines = [
    '{',
    '\u00e9',
    `[${ping(1)},${ping(2)}]`,
    '42',
    '{"id":3}',
    '',
    `\u00ef\u00bb\u00bf${ping(6)}`,
    '{"jsonrpc":"2.0","id":5,"method":"ping","params":null}',
    ping(4),
  ];
  const { child, stdout } = launch(['mcp', '--server', app.baseUrl], options);
  child.stdin?.write(Buffer.from(`${lines.join('\n')}\n`, 'latin1'));
  await lineOf(child.stdout, /("id":4)/);
  child.stdin?.end();
  await once(child, 'close');
  const answers = (await stdout)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(
    expect.arrayContaining([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [6, undefined],
      [5, undefined],
      [4, undefined],
    ]),
  );
});

it('refuses a server that is not a URL', async () => {
  const { code, stderr } = await capstan(['mcp', '--server', 'localhost']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--server takes a URL such as http://127.0.0.1:8080, not "localhost"'),
  ]);
});
