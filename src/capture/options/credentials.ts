import type { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { objectOf, textOf } from './fields.ts';

const MAX_CREDENTIAL_CHARACTERS = 1024;

const part = textOf(MAX_CREDENTIAL_CHARACTERS);

export const credentials = objectOf(
  {
    username: part.regex(/^[^:\p{Cc}]*$/u, { error: 'must have neither a colon nor control characters' }),
    password: part.regex(/^\P{Cc}*$/u, { error: 'must have no control characters' }),
  },
  'credentials',
  'an object with username and password',
).meta({ description: 'User name and password.' });

export type Credentials = Immutable<z.output<typeof credentials>>;
