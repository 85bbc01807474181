import { readFile } from 'node:fs/promises';
import type { Credentials } from 'aws4';
import got from 'got';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { errorText } from '../../capture/basics/error-text.ts';
import type { ObjectStoreConfig } from '../../config/slices.ts';

/** Returns the credentials of the next request. Rejects when there are none. */
type CredentialSource = () => Promise<Credentials>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Time before their end at which credentials are renewed, in milliseconds. */
const EARLY_MS = 5 * 60_000;
/** Minimum time between renewals of keys that can be used, in milliseconds. */
const RENEWAL_MS = 60_000;
const TIMEOUT_MS = 5000;
/** Address of the endpoint of Amazon's containers, and the hosts that credentials are asked of without TLS. */
const CONTAINERS = 'http://169.254.170.2';
const PLAIN_HOSTS = ['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', 'localhost', '127.0.0.1', '[::1]'];

const grantSchema = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string().optional(),
  Expiration: z.string().transform(Date.parse).default(Number.POSITIVE_INFINITY),
});

type Grant = z.output<typeof grantSchema>;

function credentialsOf(accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): Credentials {
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

type Keys = Partial<Pick<ObjectStoreConfig, 's3AccessKey' | 's3SecretKey'>>;

/** The keys of the configuration; else those of the environment; else those that the container's endpoint hands out. */
export function credentialSource({ s3AccessKey, s3SecretKey }: Keys, env: Environment = process.env): CredentialSource {
  const accessKeyId = s3AccessKey ?? env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = s3SecretKey ?? env.AWS_SECRET_ACCESS_KEY;
  if (accessKeyId && secretAccessKey) {
    const credentials = credentialsOf(accessKeyId, secretAccessKey, s3AccessKey ? undefined : env.AWS_SESSION_TOKEN);
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

  /** Time of the next renewal by the monotonic clock, in milliseconds. */
  let renewableAt = 0;
  const isRenewable = () => performance.now() >= renewableAt;
  const putOffRenewal = () => (renewableAt = performance.now() + RENEWAL_MS);

  async function ask(): Promise<Grant> {
    // The token in the file is replaced while the container runs.
    const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const authorization = file ? (await readFile(file, 'utf8')).trim() : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
    const answer = await got(url, { headers: { authorization }, timeout: { request: TIMEOUT_MS } }).json();
    const grant = grantSchema.parse(answer);
    putOffRenewal();
    return grant;
  }

  const known = new LRUCache<'keys', Grant>({ max: 1, fetchMethod: ask, noDeleteOnFetchRejection: true });

  /** New keys are used whatever their end: the clock of this machine may be wrong, which the object store says. */
  async function current(): Promise<Grant> {
    const kept = known.get('keys');
    // An end that cannot be read is NaN, and counts as reached.
    const endsAfter = (ms: number) => kept !== undefined && Date.now() + ms < kept.Expiration;
    try {
      return await known.forceFetch('keys', { forceRefresh: !endsAfter(EARLY_MS) && isRenewable() });
    } catch (cause) {
      // Keys that cannot be renewed are used to their end.
      if (kept !== undefined && endsAfter(0)) {
        putOffRenewal();
        return kept;
      }
      throw new Error(`the endpoint of the container gave no keys: ${errorText(cause)}`, { cause });
    }
  }

  return async () => {
    const grant = await current();
    return credentialsOf(grant.AccessKeyId, grant.SecretAccessKey, grant.Token);
  };
}
