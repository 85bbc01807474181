import type { Option } from './options.ts';

const MASK = '***';

/** A value as it may be shown: a secret becomes `***`, a URL loses its password and the secrets in its query. */
export function masked(option: Pick<Option, 'secret'>, value: unknown): unknown {
  if (value === null || value === undefined || option.secret === undefined) return value;
  if (Array.isArray(value)) return value.map((element) => masked(option, element));
  return option.secret === 'url' ? maskUrl(String(value)) : MASK;
}

/**
 * Up to the last `@`, because a password that was not escaped may hold any character; hiding too much of a bad URL is
 * better than showing half of a password.
 */
function maskUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z+.-]*:\/\/)?([^:@/]*):(.*)@/is, `$1$2:${MASK}@`)
    .replace(/([?&][^=&]*(?:pass|key|token|secret|properties)[^=&]*=)[^&]*/gi, `$1${MASK}`);
}
