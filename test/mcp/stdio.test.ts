import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { capstan, ground, launch } from '../commands/capstan-process.ts';
import { serviceForSuite, siteForSuite } from '../support/for-suite.ts';

const BIN = join(import.meta.dirname, '../../bin/capstan.js');

const site = siteForSuite();
const app = serviceForSuite();

async function connect(args: readonly string[], options: { cwd: string; env: Record<string, string> }) {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', ...args],
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return client;
}

it('captures with a service of its own, which ends with its browsers when the client closes the input', async () => {
  const place = await ground();
  const client = await connect(['--allow-targets', '127.0.0.1/32'], place.options);
  const { structuredContent } = await client.callTool({ name: 'read', arguments: { url: site.url('/short') } });
  expect(structuredContent).toMatchObject({ untrusted: { text: expect.stringContaining('deep water') } });
  const shot = await client.callTool({ name: 'capture', arguments: { url: site.url('/short') } });
  // The client cannot reach this service by URLs.
  const { image } = z.looseObject({ image: z.string() }).parse(shot.structuredContent);
  expect(image).toMatch(/^capstan:\/\/captures\/\d+\/image$/);
  expect((await client.readResource({ uri: image })).contents).toMatchObject([{ mimeType: 'image/webp' }]);
  expect(await place.browsers()).not.toEqual([]);
  await client.close();
  await expect.poll(() => place.browsers(), { timeout: 20_000 }).toEqual([]);
}, 120_000);

it('uses the service of --server', async () => {
  const place = await ground();
  const client = await connect(['--server', app.baseUrl], place.options);
  const { structuredContent } = await client.callTool({ name: 'capture', arguments: { url: site.url('/short') } });
  const { id } = z.looseObject({ id: z.number() }).parse(structuredContent);
  const stored = await app.call(`/results/${id}`);
  expect(stored.status).toBe(200);
  expect(await place.browsers()).toEqual([]);
  await client.close();
}, 120_000);

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
}, 60_000);

it('refuses a server that is not a URL', async () => {
  const { code, stderr } = await capstan(['mcp', '--server', 'localhost']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--server takes a URL such as http://127.0.0.1:8080, not "localhost"'),
  ]);
});
