import { z } from 'zod';
import type { Immutable } from './immutable.ts';

/** What an API key permits, each including the ones before it. */
export const KEY_SCOPES = ['read', 'capture', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** An API key with a name, from a line `name:key[:rate][:scope]`. */
export const NamedKeySchema = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/),
  key: z.string().regex(/^[\x21-\x2b\x2d-\x39\x3b-\x7e]+$/),
  /** Captures a minute that it may request; null when it is not limited. */
  rate: z.int().min(1).max(1_000_000).nullable(),
  scope: z.enum(KEY_SCOPES),
});

export type NamedKey = Immutable<z.output<typeof NamedKeySchema>>;
