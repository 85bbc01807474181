import { readFile } from 'node:fs/promises';
import got from 'got';
import { z } from 'zod';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Returns the credentials of the next request. Rejects when there are none. */
export type CredentialSource = () => Promise<Credentials>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Time before their end at which credentials are renewed, in milliseconds. */
const EARLY_MS = 5 * 60_000;
const TIMEOUT_MS = 5000;
/** Address of the endpoint of Amazon's containers, and the hosts that credentials are asked of without TLS. */
const CONTAINERS = 'http://169.254.170.2';
const PLAIN_HOSTS = ['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', 'localhost', '127.0.0.1', '[::1]'];

const grantSchema = z
  .object({
    AccessKeyId: z.string(),
    SecretAccessKey: z.string(),
    Token: z.string().optional(),
    Expiration: z.string().transform(Date.parse).default(Number.POSITIVE_INFINITY),
  })
  .transform(({ AccessKeyId, SecretAccessKey, Token, Expiration }) => ({
    credentials: credentialsOf(AccessKeyId, SecretAccessKey, Token),
    ends: Expiration,
  }));

type Grant = z.output<typeof grantSchema>;

function credentialsOf(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): Credentials {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

export interface Keys {
  readonly accessKey: string | null;
  readonly secretKey: string | null;
}

/** The keys of the configuration; else those of the environment; else those that the container's endpoint hands out. */
export function credentialSource({ accessKey, secretKey }: Keys, env: Environment = process.env): CredentialSource {
  const accessKeyId = accessKey ?? env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = secretKey ?? env.AWS_SECRET_ACCESS_KEY;
  if (accessKeyId && secretAccessKey) {
    const credentials = credentialsOf(accessKeyId, secretAccessKey, accessKey ? undefined : env.AWS_SESSION_TOKEN);
    return () => Promise.resolve(credentials);
  }
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: uri } = env;
  if (path || uri) return fromContainer(new URL(path ? `${CONTAINERS}${path}` : (uri ?? '')), env);
  return () => Promise.reject(new Error('there are no keys: set --s3-access-key-file and --s3-secret-key-file'));
}

function fromContainer(url: URL, env: Environment): CredentialSource {
  if (url.protocol !== 'https:' && !PLAIN_HOSTS.includes(url.hostname)) {
    throw new Error(`AWS_CONTAINER_CREDENTIALS_FULL_URI names ${url.host} without TLS; it takes https`);
  }
  let known: Grant | undefined;
  let asking: Promise<Grant> | undefined;

  async function ask(): Promise<Grant> {
    // The token in the file is replaced while the container runs.
    const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const authorization = file ? (await readFile(file, 'utf8')).trim() : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
    const grant = await got(url, { headers: { authorization }, timeout: { request: TIMEOUT_MS } }).json();
    return grantSchema.parse(grant);
  }

  return async () => {
    // An unreadable end is NaN, and counts as near.
    if (known === undefined || !(Date.now() < known.ends - EARLY_MS)) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      try {
        known = await asking;
      } catch (error) {
        // Keys that cannot be renewed are used to their end.
        if (known === undefined || !(Date.now() < known.ends)) {
          throw new Error('the endpoint of the container gave no keys', { cause: error });
        }
      }
    }
    return known.credentials;
  };
}
