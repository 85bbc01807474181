import { z } from 'zod';
import type { Immutable } from './basics/immutable.ts';

/** Scopes of API keys. Each includes the ones before it. */
export const KEY_SCOPES = ['read', 'capture', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The line of a key with a name, as texts for people name it. */
export const KEY_LINE = 'name:key[:rate][:scope]';

/** An API key with a name, from such a line. */
export const NamedKeySchema = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/),
  key: z.string().regex(/^[\x21-\x2b\x2d-\x39\x3b-\x7e]+$/),
  /** Maximum number of captures that the key may request in a minute; null for no limit. */
  rate: z.int().min(1).max(1_000_000).nullable(),
  scope: z.enum(KEY_SCOPES),
});

/** The name of an API key, in records, descriptions of images and events. Left out without a named key. */
export const apiKeyName = z
  .string()
  .optional()
  .meta({ description: 'Name of the API key that requested it; left out when its key has no name.' });

export type NamedKey = Immutable<z.output<typeof NamedKeySchema>>;

/** Returns whether a key sees its own captures alone: with `--isolate-keys`, all keys but those of administrators. */
export function isIsolated({ scope }: Pick<NamedKey, 'scope'>, isolateKeys: boolean): boolean {
  return isolateKeys && scope !== 'admin';
}
