import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { type ConnectionOptions, credsAuthenticator } from '@nats-io/transport-node';

/** Addresses of the NATS servers, and credentials. */
export interface ServerOptions {
  /** URLs with `nats://` or `tls://`, all with the same credentials or all without. */
  readonly natsUrl: readonly string[];
  /** Paths of files; null when not set. */
  readonly natsCreds: string | null;
  readonly natsTlsCa: string | null;
  readonly natsTlsCert: string | null;
  readonly natsTlsKey: string | null;
}

/**
 * Returns the client's options. Credentials are taken out of the URLs, because the client ignores them there. Reads the
 * configured files.
 */
export function connectionOptions(options: ServerOptions): ConnectionOptions {
  const { natsCreds, natsTlsCa, natsTlsCert, natsTlsKey } = options;
  const urls = options.natsUrl.map((url) => new URL(url));
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
