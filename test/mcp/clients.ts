import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

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
