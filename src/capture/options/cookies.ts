import { z } from 'zod';
import type { Immutable } from '../immutable.ts';
import { flag, listOf, noneIfEmpty, objectOf, textOf } from './fields.ts';

const MAX_COOKIES = 100;
/** Maximum length of a name and its value together; browsers store no longer cookie. */
const MAX_COOKIE_CHARACTERS = 4096;
/** Maximum length of all values together, which are sent in one header; few servers accept more. */
const MAX_COOKIES_CHARACTERS = 64 * 1024;
const MAX_DOMAIN_CHARACTERS = 255;
const MAX_PATH_CHARACTERS = 1024;

const HTTP_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const text = z.string({ error: 'must be a string' });

const cookie = objectOf(
  {
    name: text.regex(HTTP_TOKEN, { error: "must be a token: letters, digits and !#$%&'*+.^_`|~-" }),
    value: text.regex(/^[^;\p{Cc}]*$/u, { error: 'must have neither a semicolon nor control characters' }),
    domain: textOf(MAX_DOMAIN_CHARACTERS)
      .regex(/^\.?[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*$/, { error: 'must be a host name such as example.com' })
      .optional()
      .meta({ description: "Default: the target's host alone." }),
    path: textOf(MAX_PATH_CHARACTERS)
      .regex(/^\/[^;\p{Cc}]*$/u, { error: 'must begin with / and have neither a semicolon nor control characters' })
      .default('/'),
    secure: flag.default(false),
    httpOnly: flag.default(false),
    sameSite: z.enum(['Strict', 'Lax', 'None'], { error: 'must be Strict, Lax or None' }).optional(),
  },
  'a cookie',
  'an object with name, value and optionally domain, path, secure, httpOnly and sameSite',
)
  .refine(({ name, value }) => name.length + value.length <= MAX_COOKIE_CHARACTERS, {
    error: `must have at most ${MAX_COOKIE_CHARACTERS} characters, name and value together`,
  })
  .refine(({ name, secure }) => !/^__secure-/i.test(name) || secure, {
    error: 'must be secure: its name begins with __Secure-',
  })
  .refine(
    ({ name, secure, domain, path }) => !/^__host-/i.test(name) || (secure && domain === undefined && path === '/'),
    { error: 'must be secure, without a domain, and with the path /: its name begins with __Host-' },
  )
  .refine(({ sameSite, secure }) => sameSite !== 'None' || secure, {
    error: 'must be secure: browsers require it with sameSite None',
  });

export type RequestCookie = Immutable<z.output<typeof cookie>>;

export const cookies = listOf(cookie, 'cookies', MAX_COOKIES)
  .refine((list) => list.reduce((sum, { value }) => sum + value.length, 0) <= MAX_COOKIES_CHARACTERS, {
    error: `must have at most ${MAX_COOKIES_CHARACTERS} characters in their values`,
  })
  .transform(noneIfEmpty);
