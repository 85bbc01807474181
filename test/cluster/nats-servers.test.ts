import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Cluster, openCluster } from '../../src/cluster/open-cluster.ts';
import type { NatsConfig } from '../../src/config/slices.ts';
import { startNats, whyNoNats } from '../support/nats.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { clusterConfig } from './cluster-config.ts';
import { createOperator } from './nats-credentials.ts';

const whyNot = await whyNoNats();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a connection to NATS${reason}`, () => {
  it('takes the user and password out of the URL', async () => {
    const nats = await serverWith('--user', 'capstan', '--pass', 'p@ss word');
    await expectConnected({ natsUrl: [withUser(nats.url, 'capstan:p%40ss%20word')] });
    await expectRefused({ natsUrl: [withUser(nats.url, 'capstan:wrong')] }, /authorization/i);
    await expectRefused({ natsUrl: [nats.url] }, /authorization/i);
  });

  it('takes the token out of the URL', async () => {
    const nats = await serverWith('--auth', 'sesame');
    await expectConnected({ natsUrl: [withUser(nats.url, 'sesame')] });
    await expectRefused({ natsUrl: [withUser(nats.url, 'wrong')] }, /authorization/i);
  });

  it('uses the credentials of a .creds file', async () => {
    const directory = await directoryOfTest();
    const operator = createOperator();
    const files = { config: join(directory, 'nats.conf'), creds: join(directory, 'capstan.creds') };
    const foreign = join(directory, 'foreign.creds');
    await writeFile(files.config, operator.config);
    await writeFile(files.creds, operator.creds());
    await writeFile(foreign, createOperator().creds());
    const nats = await serverWith('--config', files.config);
    await expectConnected({ natsUrl: [nats.url], natsCreds: files.creds });
    await expectRefused({ natsUrl: [nats.url], natsCreds: foreign }, /authorization/i);
  });

  it('uses TLS, checks the certificate of the server, and presents a certificate of its own', async () => {
    const directory = await directoryOfTest();
    const [server, client] = await Promise.all([certificate(directory, 'server'), certificate(directory, 'client')]);
    const nats = await serverWith(
      ...['--tls', '--tlscert', server.cert, '--tlskey', server.key],
      ...['--tlsverify', '--tlscacert', client.cert],
    );
    const natsUrl = [nats.url.replace('nats:', 'tls:')];
    const own = { natsTlsCert: client.cert, natsTlsKey: client.key };
    await expectConnected({ natsUrl, natsTlsCa: server.cert, ...own });
    await expectRefused({ natsUrl, ...own }, /self-signed|certificate/i);
    // The server reads our certificate after the handshake.
    await expectRefused({ natsUrl, natsTlsCa: server.cert }, /alert.*certificate/i);
    const foreign = { natsTlsCert: server.cert, natsTlsKey: server.key };
    await expectRefused({ natsUrl, natsTlsCa: server.cert, ...foreign }, /alert.*(certificate|unknown ca)/i);
    await expectRefused({ natsUrl: [nats.url] }, /tls|certificate/i);
  });
});

async function serverWith(...flags: readonly string[]) {
  const nats = await startNats(flags);
  onTestFinished(() => nats.remove());
  return nats;
}

async function directoryOfTest(): Promise<string> {
  const directory = await makeDirectory();
  return directory;
}

function withUser(url: string, user: string): string {
  return url.replace('//', `//${user}@`);
}

/** Makes a self-signed certificate for 127.0.0.1. */
async function certificate(directory: string, name: string): Promise<{ readonly cert: string; readonly key: string }> {
  const files = { cert: join(directory, `${name}.pem`), key: join(directory, `${name}.key`) };
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', files.key, '-out', files.cert],
  ]);
  return files;
}

function connecting(servers: Partial<NatsConfig>): { readonly cluster: Cluster; readonly problems: string[] } {
  const problems: string[] = [];
  const cluster = openCluster(
    clusterConfig({
      natsUrl: [],
      clusterName: 'capstan',
      role: 'worker',
      clusterMaxConcurrent: 1,
      maxQueue: 1,
      ...servers,
    }),
    {
      onState: () => {},
      onProblem: (problem) => problems.push(String(problem)),
      onBadMessages: () => {},
    },
  );
  cluster.start();
  return { cluster, problems };
}

async function expectConnected(servers: Partial<NatsConfig>): Promise<void> {
  const { cluster, problems } = connecting(servers);
  await expect.poll(() => ({ isUp: cluster.isUp, problems })).toEqual({ isUp: true, problems: [] });
  await cluster.close();
}

async function expectRefused(servers: Partial<NatsConfig>, problem: RegExp): Promise<void> {
  const { cluster, problems } = connecting(servers);
  await expect.poll(() => problems.join('\n')).toMatch(problem);
  expect(cluster.isUp).toBe(false);
  await cluster.close();
}
