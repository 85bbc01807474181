import { connect } from 'node:net';
import { z } from 'zod';
import { type Finding, findingsOf } from './finding.ts';

const nats = findingsOf('NATS');
const PORT = 4222;
const TIMEOUT_MS = 3_000;

/** First line that a NATS server sends, in JSON, before credentials and TLS. */
const Introduction = z.object({ version: z.string(), jetstream: z.boolean().default(false) });

/** Checks the NATS servers of the cluster; returns no findings without a cluster. */
export async function examineNats({
  natsUrl = [],
}: {
  readonly natsUrl?: readonly string[];
}): Promise<readonly Finding[]> {
  const findings = await Promise.all(natsUrl.map(examineServer));
  return findings.flat();
}

async function examineServer(text: string): Promise<readonly Finding[]> {
  const { hostname, port } = new URL(text.replace(/^\w+:/, 'http:'));
  const address = `${hostname}:${port === '' ? PORT : port}`;
  try {
    const { version, jetstream } = await introduction(hostname.replace(/^\[|\]$/g, ''), Number(port) || PORT);
    if (jetstream) return nats.ok(`${address}, version ${version}, with JetStream`);
    return nats.failure(`${address}, version ${version}, has no JetStream`, 'start nats-server with -js');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return nats.failure(`${address}: ${reason}`, 'start the server, and check --nats-url');
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
