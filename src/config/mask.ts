import type { Option } from './options.ts';

const MASK = '***';

/** Returns a value that may be shown: secrets become `***`, in a URL its password and the secrets in its query. */
export function masked(option: Pick<Option, 'secret'>, value: unknown): unknown {
  if (value === null || value === undefined || option.secret === undefined) return value;
  if (Array.isArray(value)) return value.map((element) => masked(option, element));
  return option.secret === 'url' ? maskUrl(String(value)) : MASK;
}

/**
 * Masks a token of NATS, which stands in the place of a user, and passwords: up to the last `@`, because an unescaped password may contain any character; hiding too much of a malformed URL
 * is better than showing half of a password.
 */
function maskUrl(url: string): string {
  return url
    .replace(/^((?:nats|tls):\/\/)[^:@/]+@/i, `$1${MASK}@`)
    .replace(/^([a-z][a-z+.-]*:\/\/)?([^:@/]*):(.*)@/is, `$1$2:${MASK}@`)
    .replace(/([?&][^=&]*(?:pass|key|token|secret|properties)[^=&]*=)[^&]*/gi, `$1${MASK}`);
}
