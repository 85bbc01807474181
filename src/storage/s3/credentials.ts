import { readFile } from 'node:fs/promises';
import got from 'got';
import { z } from 'zod';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Returns the credentials of the next request. Rejects when there are none. */
export type CredentialSource = () => Promise<Credentials>;

type Environment = Readonly<Record<string, string | undefined>>;

const MINUTE_MS = 60_000;
/** Time before their end at which credentials are renewed. */
const EARLY_MS = 5 * MINUTE_MS;
const TIMEOUT_MS = 5000;
/** Address of the endpoint of Amazon's containers, and the hosts that credentials are asked of without TLS. */
const CONTAINERS = 'http://169.254.170.2';
const PLAIN_HOSTS = ['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', 'localhost', '127.0.0.1', '[::1]'];

const grantSchema = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string().optional(),
  Expiration: z.string().optional(),
});

export interface Keys {
  readonly accessKey: string | null;
  readonly secretKey: string | null;
}

/** The keys of the configuration; else those of the environment; else those that the container's endpoint hands out. */
export function credentialSource({ accessKey, secretKey }: Keys, env: Environment = process.env): CredentialSource {
  if (accessKey !== null && secretKey !== null) {
    return () => Promise.resolve({ accessKeyId: accessKey, secretAccessKey: secretKey });
  }
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY) {
    const sessionToken = AWS_SESSION_TOKEN || undefined;
    return () =>
      Promise.resolve({ accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY, sessionToken });
  }
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: uri } = env;
  if (path || uri) return fromContainer(new URL(path ? `${CONTAINERS}${path}` : (uri ?? '')), env);
  return () => Promise.reject(new Error('there are no keys: set --s3-access-key-file and --s3-secret-key-file'));
}

function fromContainer(url: URL, env: Environment): CredentialSource {
  if (url.protocol !== 'https:' && !PLAIN_HOSTS.includes(url.hostname)) {
    throw new Error(`AWS_CONTAINER_CREDENTIALS_FULL_URI names ${url.host} without TLS; it takes https`);
  }
  let known: { readonly credentials: Credentials; readonly ends: number } | undefined;
  let asking: Promise<Credentials> | undefined;

  async function ask(): Promise<Credentials> {
    // The token in the file is replaced while the container runs.
    const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const token = file ? (await readFile(file, 'utf8')).trim() : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
    const headers = token ? { authorization: token } : {};
    const grant = grantSchema.parse(await got(url, { headers, timeout: { request: TIMEOUT_MS } }).json());
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken, Expiration } = grant;
    known = {
      credentials: { accessKeyId, secretAccessKey, sessionToken },
      ends: Expiration === undefined ? Number.POSITIVE_INFINITY : Date.parse(Expiration),
    };
    return known.credentials;
  }

  return async () => {
    if (known !== undefined && Date.now() < known.ends - EARLY_MS) return known.credentials;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    try {
      return await asking;
    } catch (error) {
      if (known !== undefined && Date.now() < known.ends) return known.credentials;
      throw new Error('the endpoint of the container gave no keys', { cause: error });
    }
  };
}
