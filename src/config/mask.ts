import type { Option } from './options.ts';

const MASK = '***';

/**
 * Replaces the secrets in a value by `***`, so that it may be shown. In a URL, only its password and the secrets in its
 * query are replaced.
 */
export function masked(option: Pick<Option, 'secret'>, value: unknown): unknown {
  if (value === null || value === undefined || option.secret === undefined) return value;
  if (Array.isArray(value)) return value.map((element) => masked(option, element));
  return option.secret === 'url' ? maskUrl(String(value)) : MASK;
}

/**
 * Masks passwords, NATS tokens (which take the place of the user name) and secrets in the query. A password is masked
 * up to the last `@`, because it may contain any character when it is not escaped: hiding too much of a malformed URL
 * is better than showing half of a password.
 */
function maskUrl(url: string): string {
  return url
    .replace(/^((?:nats|tls):\/\/)[^:@/]+@/i, `$1${MASK}@`)
    .replace(/^([a-z][a-z+.-]*:\/\/)?([^:@/]*):(.*)@/is, `$1$2:${MASK}@`)
    .replace(/([?&][^=&]*(?:pass|key|token|secret|properties)[^=&]*=)[^&]*/gi, `$1${MASK}`);
}
