import { createServer } from 'node:net';
import { errorText } from '../capture/basics/error-text.ts';
import type { Config } from '../config/mod.ts';
import { type Finding, findingsOf } from './finding.ts';

const finding = findingsOf('port');

/** Listens on the service's address. A Capstan that already listens there is not a failure: it may be this service. */
export async function examinePort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<readonly Finding[]> {
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const server = createServer();
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  try {
    await listening;
    await new Promise((resolve) => server.close(resolve));
    return finding.ok(`${at} is free`);
  } catch (error) {
    if (await isCapstan(host, port)) return finding.ok(`${at}: a Capstan service is listening there`);
    const reason = errorText(error);
    return finding.failure(`${at}: ${reason}`, 'stop what listens there, or choose another --host or --port');
  }
}

async function isCapstan(host: string, port: number): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}/livez`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    return answer.ok && (await answer.text()).includes('"status":"live"');
  } catch {
    return false;
  }
}
