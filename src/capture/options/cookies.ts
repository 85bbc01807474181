import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
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

/** The values of `sameSite`, also as extensions for browsers and drivers (Puppeteer, WebDriver BiDi) write them. */
const SAME_SITE_SPELLINGS = [
  ...['Strict', 'Lax', 'None', 'strict', 'lax', 'none'],
  ...['no_restriction', 'unspecified', 'Default', 'default', ''],
] as const;
const SAME_SITES: Readonly<Record<string, 'Strict' | 'Lax' | 'None'>> = {
  strict: 'Strict',
  lax: 'Lax',
  none: 'None',
  no_restriction: 'None',
};

/** Characters between the parts of a date (RFC 6265, 5.1.1). */
const DELIMITERS = /[\t\x20-\x2f;-@[-`{-~]+/;
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/;
const DAY = /^(\d{1,2})(?!\d)/;
const MONTH = /^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const YEAR = /^(\d{2,4})(?!\d)/;
/** Each token is what it may be and no token before it was. */
const PARTS = [TIME, DAY, MONTH, YEAR];
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';
const MIN_YEAR = 1601;
/** RFC 3339, as archives (HAR) have it; also without a zone or a time. */
const INTERNET_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/i;

/** Reads a date of a cookie, as servers send it (RFC 6265) or as RFC 3339, in seconds; undefined for other texts. */
function cookieDate(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = INTERNET_DATE.exec(text.trim()) ?? [];
  const ms = date === undefined ? sentDate(text) : Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

function sentDate(text: string): number {
  const found = new Map<RegExp, readonly string[]>();
  for (const token of text.split(DELIMITERS)) {
    const part = PARTS.find((each) => !found.has(each) && each.test(token));
    if (part !== undefined) found.set(part, part.exec(token)?.slice(1) ?? []);
  }
  const [hour = NaN, minute = NaN, second = NaN] = (found.get(TIME) ?? []).map(Number);
  const [day = NaN] = (found.get(DAY) ?? []).map(Number);
  const month = MONTHS.indexOf(found.get(MONTH)?.[0]?.toLowerCase() ?? 'none') / 3;
  const [written = NaN] = (found.get(YEAR) ?? []).map(Number);
  const year = written < 70 ? written + 2000 : written < 100 ? written + 1900 : written;
  const ms = Date.UTC(year, month, day, hour, minute, second);
  const isReal = hour < 24 && minute < 60 && second < 60 && month >= 0 && new Date(ms).getUTCDate() === day;
  return isReal && year >= MIN_YEAR ? ms : NaN;
}

const EXPIRES =
  'must be a number of seconds since 1970, -1, or a date such as "Wed, 09 Jun 2027 10:18:14 GMT" or "2027-06-09T10:18:14Z"';
const MAX_DATE_CHARACTERS = 100;

const expires = z
  .union([z.number(), z.null(), z.string().max(MAX_DATE_CHARACTERS)], { error: EXPIRES })
  .transform((time, context) => {
    if (typeof time !== 'string') return time;
    // The browser's own tools write this of a cookie without a date.
    if (/^(?:session)?$/i.test(time)) return null;
    const seconds = cookieDate(time);
    if (seconds === undefined) context.addIssue(EXPIRES);
    return seconds ?? null;
  })
  .optional();
const unused = z.unknown().optional().meta({ description: 'As exports have it; not used.' });

/**
 * Other fields in cookies that Playwright, Puppeteer, extensions for browsers and HAR export. `hostOnly` repeats what
 * `domain` says.
 */
const UNUSED_FIELDS = {
  session: unused,
  hostOnly: unused,
  storeId: unused,
  id: unused,
  size: unused,
  priority: unused,
  sameParty: unused,
  sourceScheme: unused,
  sourcePort: unused,
  partitioned: unused,
  partitionKey: unused,
  partitionKeyOpaque: unused,
  firstPartyDomain: unused,
  _crHasCrossSiteAncestor: unused,
  comment: unused,
};

const written = objectOf(
  {
    name: text.regex(HTTP_TOKEN, { error: "must be a token: letters, digits and !#$%&'*+.^_`|~-" }),
    value: text.regex(/^[^;\p{Cc}]*$/u, { error: 'must have neither a semicolon nor control characters' }),
    domain: textOf(MAX_DOMAIN_CHARACTERS)
      .regex(/^\.?[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*$/, { error: 'must be a host name such as example.com' })
      .optional()
      .meta({ description: "With a dot before it, also for its subdomains. Default: the target's host alone." }),
    path: textOf(MAX_PATH_CHARACTERS)
      .regex(/^\/[^;\p{Cc}]*$/u, { error: 'must begin with / and have neither a semicolon nor control characters' })
      .default('/'),
    secure: flag.default(false),
    httpOnly: flag.default(false),
    sameSite: z.union([z.enum(SAME_SITE_SPELLINGS), z.null()], { error: 'must be Strict, Lax or None' }).optional(),
    expires: expires.meta({
      description:
        'Seconds since 1970, or a date (RFC 6265 or RFC 3339). Without it, empty, or not positive: until the capture ends.',
    }),
    expirationDate: expires.meta({ description: 'Another name of `expires`.' }),
    expiry: expires.meta({ description: 'Another name of `expires`.' }),
    ...UNUSED_FIELDS,
  },
  'a cookie',
  'an object with name, value and optionally domain, path, secure, httpOnly, sameSite and expires',
);

const cookie = written
  .transform(asSet)
  .refine(({ name, value }) => name.length + value.length <= MAX_COOKIE_CHARACTERS, {
    error: `must have at most ${MAX_COOKIE_CHARACTERS} characters, name and value together`,
  })
  .refine(({ name, secure }) => !/^__secure-/i.test(name) || secure, {
    error: 'must be secure: its name begins with __Secure-',
  })
  .refine(
    ({ name, secure, domain = '', path }) =>
      !/^__host-/i.test(name) || (secure && !domain.startsWith('.') && path === '/'),
    { error: 'must be secure, with no dot before its domain, and with the path /: its name begins with __Host-' },
  )
  .refine(({ sameSite, secure }) => sameSite !== 'None' || secure, {
    error: 'must be secure: browsers require it with sameSite None',
  });

export type RequestCookie = Immutable<z.output<typeof cookie>>;

/** Returns a cookie with the fields that are set in the browser. */
function asSet(cookie: z.output<typeof written>) {
  const { name, value, domain, path, secure, httpOnly } = cookie;
  const sameSite = SAME_SITES[cookie.sameSite?.toLowerCase() ?? ''];
  // Firefox gives this to cookies without the attribute.
  const isUnspecified = cookie.sameSite === 'no_restriction' && !secure;
  const expires = cookie.expires ?? cookie.expirationDate ?? cookie.expiry ?? 0;
  return {
    ...{ name, value, path, secure, httpOnly },
    ...(domain !== undefined && { domain }),
    ...(sameSite !== undefined && !isUnspecified && { sameSite }),
    ...(expires > 0 && { expires }),
  };
}

export const cookies = listOf(cookie, 'cookies', MAX_COOKIES)
  .refine((list) => list.reduce((sum, { value }) => sum + value.length, 0) <= MAX_COOKIES_CHARACTERS, {
    error: `must have at most ${MAX_COOKIES_CHARACTERS} characters in their values`,
  })
  .transform(noneIfEmpty);
