import { z } from 'zod';
import { flag, noneIfEmpty, objectOf } from '../fields.ts';
import { headersField } from './headers.ts';
import { proxyField } from './proxy.ts';

const MAX_USER_AGENT_CHARACTERS = 512;
const MAX_COOKIES = 100;
/** Of a name and its value together; browsers keep no more. */
const MAX_COOKIE_CHARACTERS = 4096;
/** Of all values together: they go in one header, and few servers take as much. */
const MAX_COOKIES_CHARACTERS = 64 * 1024;
const MAX_DOMAIN_CHARACTERS = 255;
const MAX_PATH_CHARACTERS = 1024;
const MAX_CREDENTIAL_CHARACTERS = 1024;

const HTTP_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NO_CONTROLS = /^\P{Cc}*$/u;

const text = () => z.string({ error: 'must be a string' });

const credentialsField = objectOf(
  {
    username: text()
      .max(MAX_CREDENTIAL_CHARACTERS, { error: `must have at most ${MAX_CREDENTIAL_CHARACTERS} characters` })
      .regex(/^[^:\p{Cc}]*$/u, { error: 'must have neither a colon nor control characters' }),
    password: text()
      .max(MAX_CREDENTIAL_CHARACTERS, { error: `must have at most ${MAX_CREDENTIAL_CHARACTERS} characters` })
      .regex(NO_CONTROLS, { error: 'must have no control characters' }),
  },
  'credentials',
  'an object of username and password',
).meta({ description: 'A name and its password.' });

const cookie = objectOf(
  {
    name: text().regex(HTTP_TOKEN, { error: "must be a token: letters, digits and !#$%&'*+.^_`|~-" }),
    value: text().regex(/^[^;\p{Cc}]*$/u, { error: 'must have neither a semicolon nor control characters' }),
    domain: text()
      .max(MAX_DOMAIN_CHARACTERS, { error: `must have at most ${MAX_DOMAIN_CHARACTERS} characters` })
      .regex(/^\.?[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*$/, { error: 'must be a host name, as example.com' })
      .optional()
      .meta({ description: "Default: the target's host alone." }),
    path: text()
      .max(MAX_PATH_CHARACTERS, { error: `must have at most ${MAX_PATH_CHARACTERS} characters` })
      .regex(/^\/[^;\p{Cc}]*$/u, { error: 'must begin with / and have neither a semicolon nor control characters' })
      .optional()
      .meta({ default: '/' }),
    secure: flag.optional().meta({ default: false }),
    httpOnly: flag.optional().meta({ default: false }),
    sameSite: z.enum(['Strict', 'Lax', 'None'], { error: 'must be Strict, Lax or None' }).optional(),
  },
  'a cookie',
  'an object of name, value and, if wanted, domain, path, secure, httpOnly and sameSite',
)
  .refine(({ name, value }) => name.length + value.length <= MAX_COOKIE_CHARACTERS, {
    error: `must have at most ${MAX_COOKIE_CHARACTERS} characters, name and value together`,
  })
  .refine(({ name, secure }) => !/^__secure-/i.test(name) || secure === true, {
    error: 'must be secure, as its name says',
  })
  .refine(
    ({ name, secure, domain, path = '/' }) =>
      !/^__host-/i.test(name) || (secure === true && domain === undefined && path === '/'),
    { error: 'must be secure, without a domain, and of the path /, as its name says' },
  )
  .refine(({ sameSite, secure }) => sameSite !== 'None' || secure === true, {
    error: 'must be secure, as browsers want it of one with sameSite None',
  });

/** Who seems to be visiting. */
export const visitorFields = {
  userAgent: text()
    .min(1, { error: 'must not be empty' })
    .max(MAX_USER_AGENT_CHARACTERS, { error: `must have at most ${MAX_USER_AGENT_CHARACTERS} characters` })
    .regex(/^[\x20-\x7e]*$/, { error: 'must have printable ASCII characters only' })
    .optional()
    .meta({ description: 'What the browser says that it is.' }),
  headers: headersField,
  cookies: z
    .array(cookie, { error: 'must be a list of cookies' })
    .max(MAX_COOKIES, { error: `must have at most ${MAX_COOKIES} cookies` })
    .refine((cookies) => cookies.reduce((sum, { value }) => sum + value.length, 0) <= MAX_COOKIES_CHARACTERS, {
      error: `must have at most ${MAX_COOKIES_CHARACTERS} characters in their values`,
    })
    .transform(noneIfEmpty)
    .optional()
    .meta({ description: 'Are there before the first request.' }),
  httpCredentials: credentialsField
    .optional()
    .meta({ description: "Are given to the target's own origin when it asks (Basic, Digest)." }),
  ignoreCertErrors: flag.optional().meta({ description: 'TLS certificates are not checked.', default: false }),
  proxy: proxyField(credentialsField),
};
