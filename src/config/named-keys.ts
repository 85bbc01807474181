import { KEY_LINE, KEY_SCOPES, type NamedKey, NamedKeySchema } from '../capture/named-key.ts';
import { ConfigError } from './config-error.ts';

const FORM = `${KEY_LINE}, where name is 1 to 64 letters, digits, dots, dashes and underscores, rate the captures a minute from 1 to 1000000, and scope one of ${KEY_SCOPES.join(', ')}`;

/**
 * Divides the lines of a file of keys into plain keys and named ones, which have a colon. Errors name the line and
 * never show it.
 * @throws ConfigError
 */
export function readKeyLines(
  flag: string,
  path: string,
  lines: readonly string[],
): { readonly plain: readonly string[]; readonly named: readonly NamedKey[] } {
  const named = lines.flatMap((line, index) => (line.includes(':') ? [readLine(flag, path, line, index + 1)] : []));
  for (const part of ['name', 'key'] as const) {
    if (new Set(named.map((key) => key[part])).size < named.length)
      throw new ConfigError(`${flag} ${path} is not valid: two of its keys have one ${part}; give each its own`);
  }
  return { plain: lines.filter((line) => !line.includes(':')), named };
}

function readLine(flag: string, path: string, line: string, number: number): NamedKey {
  const [name, key, ...rest] = line.split(':');
  const [rate, scope] = rest.length === 1 && KEY_SCOPES.some((known) => known === rest[0]) ? ['', rest[0]] : rest;
  const parsed = NamedKeySchema.safeParse({
    name,
    key,
    rate: rate === undefined || rate === '' ? null : Number(rate),
    scope: scope === undefined || scope === '' ? 'capture' : scope,
  });
  if (parsed.success && rest.length <= 2) return parsed.data;
  const wrong = parsed.success ? 'too many colons' : `its ${String(parsed.error.issues[0]?.path[0])}`;
  throw new ConfigError(`${flag} ${path}, key ${number} is not valid (${wrong}); it takes ${FORM}`);
}
