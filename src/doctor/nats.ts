import { connect } from 'node:net';
import { z } from 'zod';
import { errorText } from '../capture/basics/error-text.ts';
import type { NatsConfig } from '../config/slices.ts';
import { type Finding, findingsOf } from './finding.ts';

const nats = findingsOf('NATS');
const PORT = 4222;
const TIMEOUT_MS = 3_000;

/** First line that a NATS server sends, in JSON, before credentials and TLS. */
const Introduction = z.object({ version: z.string(), jetstream: z.boolean().default(false) });

/** Checks the NATS servers of the cluster; returns no findings without a cluster. */
export async function examineNats(config: NatsConfig): Promise<readonly Finding[]> {
  const findings = await Promise.all(config.natsUrl.map((url) => examineServer(url, config)));
  return findings.flat();
}

/** Connects as the service would: credentials and certificates are part of the check. */
async function examineServer(url: string, config: NatsConfig): Promise<readonly Finding[]> {
  const { hostname, port } = new URL(url.replace(/^\w+:/, 'http:'));
  const address = `${hostname}:${port === '' ? PORT : port}`;
  try {
    const { version, jetstream } = await introduction(hostname.replace(/^\[|\]$/g, ''), Number(port) || PORT);
    const server = `${address}, version ${version}`;
    if (!jetstream) return nats.failure(`${server}, has no JetStream`, 'start nats-server with -js');
    // Loaded on demand: without a cluster, no NATS client is loaded.
    const { connectionOptions, logIn } = await import('../cluster/servers.ts');
    try {
      await logIn(connectionOptions({ ...config, natsUrl: [url] }), TIMEOUT_MS);
      return nats.ok(`${server}, with JetStream`);
    } catch (error) {
      return nats.failure(
        `${server}: ${errorText(error)}`,
        'check user and password or token in --nats-url, --nats-creds and --nats-tls-*, and that the account may use JetStream',
      );
    }
  } catch (error) {
    return nats.failure(`${address}: ${errorText(error)}`, 'start the server, and check --nats-url');
  }
}

function introduction(host: string, port: number): Promise<z.output<typeof Introduction>> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const socket = connect({ host, port });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('it is no NATS server')));
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      const [, json] = /^INFO (\{.*\}) *\r?\n/.exec(seen) ?? [];
      if (json === undefined && seen.length < 65_536) return;
      socket.destroy();
      try {
        resolve(Introduction.parse(JSON.parse(json ?? '')));
      } catch {
        reject(new Error('it is no NATS server'));
      }
    });
  });
}
