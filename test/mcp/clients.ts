import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as EarlierStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'vitest';
import { subscribe, typesOf } from '../http/event-subscriber.ts';
import { BIN } from '../support/package.ts';

const NAME = { name: 'test', version: '1.0.0' };

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { Authorization: `Bearer ${key}` };

/** Connects the official client over HTTP, which speaks the newest revision of the protocol that the server has. */
export async function connect(baseUrl: string, key?: string): Promise<Client> {
  const client = new Client(NAME, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: headersOf(key) };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', baseUrl), { requestInit }));
  return client;
}

/** Connects the official client of the revision of 2025. */
export async function connectEarlier(baseUrl: string): Promise<EarlierClient> {
  const client = new EarlierClient(NAME);
  const transport = new EarlierTransport(new URL('/mcp', baseUrl));
  // The SDK's own types do not fit each other where optional properties are exact.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts `capstan mcp` as the official client does, and connects it in the newest revision that the server has. */
export async function connectProgram(args: readonly string[], place: Place): Promise<Client> {
  const client = new Client(NAME, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport(commandOf(args, place)));
  return client;
}

/** Starts `capstan mcp` as the official client of the revision of 2025 does. */
export async function connectProgramEarlier(args: readonly string[], place: Place): Promise<EarlierClient> {
  const client = new EarlierClient(NAME);
  await client.connect(new EarlierStdioTransport(commandOf(args, place)));
  return client;
}

function commandOf(args: readonly string[], { cwd, env }: Place) {
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    command: process.execPath,
    args: [BIN, 'mcp', ...args],
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stderr: 'ignore' as const,
  };
}

/** Asserts that a call reports its progress, and that its capture ends when the client cancels it. */
export async function expectCancelled(
  client: Client | EarlierClient,
  { baseUrl, url, key }: { readonly baseUrl: string; readonly url: string; readonly key?: string },
): Promise<void> {
  const subscriber = await subscribe(`${baseUrl}/events?type=capture.*`, headersOf(key));
  const cancel = new AbortController();
  const begun = Promise.withResolvers<void>();
  const options = { signal: cancel.signal, onprogress: () => begun.resolve() };
  const call = { name: 'capture', arguments: { url } };
  const calling = client instanceof Client ? client.callTool(call, options) : client.callTool(call, undefined, options);
  calling.catch(() => undefined);
  await begun.promise;
  expect(typesOf(await subscriber.take(2))).toEqual(['capture.queued', 'capture.started']);
  cancel.abort();
  await expect(calling).rejects.toThrow();
  expect(typesOf(await subscriber.take(1))).toEqual(['capture.cancelled']);
  await subscriber.close();
}
