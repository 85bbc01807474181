import { z } from 'zod';
import type { Immutable } from '../immutable.ts';
import { objectOf } from './fields.ts';

const MAX_CREDENTIAL_CHARACTERS = 1024;

const part = () =>
  z
    .string({ error: 'must be a string' })
    .max(MAX_CREDENTIAL_CHARACTERS, { error: `must have at most ${MAX_CREDENTIAL_CHARACTERS} characters` });

export const credentials = objectOf(
  {
    username: part().regex(/^[^:\p{Cc}]*$/u, { error: 'must have neither a colon nor control characters' }),
    password: part().regex(/^\P{Cc}*$/u, { error: 'must have no control characters' }),
  },
  'credentials',
  'an object with username and password',
).meta({ description: 'User name and password.' });

export type Credentials = Immutable<z.output<typeof credentials>>;
