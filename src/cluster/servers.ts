import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { jetstreamManager } from '@nats-io/jetstream';
import { type ConnectionOptions, connect, credsAuthenticator } from '@nats-io/transport-node';
import type { NatsConfig } from '../config/slices.ts';

/**
 * Returns the client's options. Credentials, which are those of the first URL, are taken out of the URLs, because the
 * client ignores them there. Reads the configured files.
 */
export function connectionOptions(config: NatsConfig): ConnectionOptions {
  const { natsCreds, natsTlsCa, natsTlsCert, natsTlsKey } = config;
  const urls = config.natsUrl.map((url) => new URL(url));
  const [first] = urls;
  const needsTls = urls.some(({ protocol }) => protocol === 'tls:') || natsTlsCa !== null || natsTlsCert !== null;
  return {
    servers: urls.map(({ host }) => host),
    ...(first === undefined ? {} : credentialsOf(first)),
    ...(natsCreds === null ? {} : { authenticator: credsAuthenticator(readFileSync(natsCreds)) }),
    ...(needsTls
      ? {
          tls: {
            ...(natsTlsCa === null ? {} : { caFile: natsTlsCa }),
            ...(natsTlsCert === null ? {} : { certFile: natsTlsCert }),
            ...(natsTlsKey === null ? {} : { keyFile: natsTlsKey }),
            ...identityOf(urls.map(({ hostname }) => hostname)),
          },
        }
      : {}),
  };
}

/** Returns the credentials of a URL. A user without a password is a token. */
function credentialsOf({ username, password }: URL): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (username === '') return {};
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
}

/**
 * Returns the check of certificates for servers that are given by their addresses; nothing when one has a name. The
 * client library passes no address, so Node would compare the certificate with `localhost`.
 */
function identityOf(hosts: readonly string[]): { readonly checkServerIdentity?: typeof checkServerIdentity } {
  const addresses = hosts.map((host) => host.replace(/^\[|\]$/g, ''));
  if (!addresses.every((address) => isIP(address) > 0)) return {};
  return {
    checkServerIdentity: (_name: string, certificate: PeerCertificate) => {
      const problems = addresses.map((address) => checkServerIdentity(address, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

/** Connects once with the credentials of the service, and uses JetStream. Rejects with the reason when either fails. */
export async function logIn(options: ConnectionOptions, timeoutMs: number): Promise<void> {
  const connection = await connect({ ...options, reconnect: false, timeout: timeoutMs, noAsyncTraces: true });
  try {
    await (await jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs })).getAccountInfo();
  } finally {
    await connection.close();
  }
}
