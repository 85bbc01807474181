import { z } from 'zod';
import { cookies } from './cookies.ts';
import { credentials } from './credentials.ts';
import { optionFacts } from './facts.ts';
import { flag, listOf, objectOf, textOf } from './fields.ts';
import { proxy } from './proxy.ts';

const MAX_PATTERNS = 100;
const MAX_PATTERN_CHARACTERS = 512;

/**
 * Resource types that the browser can tell apart before it sends a request. `xhr` includes `fetch()`. WebSockets cannot
 * be blocked.
 */
const RESOURCE_TYPES = ['stylesheet', 'image', 'media', 'font', 'script', 'xhr', 'other'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

const pattern = textOf(MAX_PATTERN_CHARACTERS)
  .min(1, { error: 'must not be empty' })
  .register(optionFacts, { secret: false });

const block = objectOf(
  {
    types: z
      .array(z.enum(RESOURCE_TYPES, { error: `must be one of ${RESOURCE_TYPES.join(', ')}` }), {
        error: 'must be a list of resource types',
      })
      .max(RESOURCE_TYPES.length, { error: 'must name each type once' })
      .optional(),
    urls: listOf(pattern, 'URL patterns', MAX_PATTERNS)
      .optional()
      .meta({ description: 'Each pattern is compared with the whole URL; `*` matches any characters.' }),
  },
  'block',
  'an object with types, urls or both',
);

const MAX_HEADERS = 50;
const MAX_VALUE_CHARACTERS = 8192;
const MAX_NAME_CHARACTERS = 256;
/** Maximum length of all names and values together; few servers accept more. */
const MAX_CHARACTERS = 64 * 1024;

/** A token according to RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Values that every server accepts: no line breaks or other control characters. */
const VALUE = /^[\t\x20-\x7e]*$/;

/** Headers that a request cannot set, and why, or the option to use instead. */
const NOT_TAKEN: Readonly<Record<string, string>> = {
  host: 'it follows from the URL',
  connection: 'it belongs to the connection',
  'content-length': 'it follows from the body',
  'transfer-encoding': 'it belongs to the connection',
  upgrade: 'it belongs to the connection',
  te: 'it belongs to the connection',
  trailer: 'it belongs to the connection',
  expect: 'it belongs to the connection',
  'keep-alive': 'it belongs to the connection',
  via: 'it belongs to the connection',
  'http2-settings': 'it belongs to the connection',
  'accept-encoding': 'the browser sets it',
  'accept-charset': 'the browser sets it',
  cookie: 'use cookies',
  'set-cookie': 'it is a response header; use cookies',
  'user-agent': 'use userAgent',
  origin: 'the browser sets it',
};
const NOT_TAKEN_PREFIXES: Readonly<Record<string, string>> = {
  'proxy-': 'it belongs to the connection with a proxy; use proxy',
  'sec-': 'the browser sets it',
};

/** Reports every header that cannot be sent. */
const headers = z
  .record(z.string(), z.string({ error: 'must be a string' }), {
    error: 'must be an object of header names and values',
  })
  .superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > MAX_HEADERS) {
      context.addIssue({ code: 'custom', message: `must have at most ${MAX_HEADERS} headers` });
      return;
    }
    const characters = Object.entries(given).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (characters > MAX_CHARACTERS) {
      context.addIssue({ code: 'custom', message: `must have at most ${MAX_CHARACTERS} characters in all` });
      return;
    }
    const seen = new Set<string>();
    for (const [name, value] of Object.entries(given)) {
      const problem = problemOf(name, value, seen);
      if (problem !== null)
        context.addIssue({ code: 'custom', path: [name.slice(0, MAX_NAME_CHARACTERS)], message: problem });
      seen.add(name.toLowerCase());
    }
  })
  .meta({
    description:
      "Headers, sent to the target's own origin only. Headers of the connection, `Cookie`, `User-Agent`, `Origin` and `Sec-*` are refused.",
    maxProperties: MAX_HEADERS,
  });

function problemOf(name: string, value: string, seen: ReadonlySet<string>): string | null {
  const lower = name.toLowerCase();
  if (!TOKEN.test(name) || name.length > MAX_NAME_CHARACTERS) {
    return `must have a header name of at most ${MAX_NAME_CHARACTERS} characters: letters, digits and !#$%&'*+.^_\`|~-`;
  }
  const prefix = Object.keys(NOT_TAKEN_PREFIXES).find((start) => lower.startsWith(start));
  const reason =
    (Object.hasOwn(NOT_TAKEN, lower) ? NOT_TAKEN[lower] : undefined) ?? (prefix && NOT_TAKEN_PREFIXES[prefix]);
  if (reason !== undefined) return `cannot be set: ${reason}`;
  if (seen.has(lower)) return 'is given twice, in different case: give it once';
  if (value.length > MAX_VALUE_CHARACTERS) return `must have at most ${MAX_VALUE_CHARACTERS} characters`;
  return VALUE.test(value) ? null : 'must have printable ASCII characters only, on one line';
}

/** Captures that share a browser context: none, or those of a batch. */
const ISOLATIONS = ['capture', 'batch'] as const;

/** Headers and credentials of the page's requests, the proxy they use, and which of them are blocked. */
export const networkFields = {
  headers: headers.optional(),
  cookies: cookies.optional().meta({ description: 'Set before the first request.' }),
  httpCredentials: credentials
    .optional()
    .meta({ description: "HTTP credentials (Basic, Digest), sent only to the target's own origin." }),
  ignoreCertErrors: flag.default(false).meta({ description: 'Accept invalid TLS certificates.' }),
  proxy: proxy.optional(),
  block: block
    .optional()
    .meta({ description: 'Requests of the page that are blocked. The page itself is never blocked.' }),
  isolation: z
    .enum(ISOLATIONS, { error: `must be ${ISOLATIONS.join(' or ')}` })
    .default('capture')
    .meta({
      description:
        'Isolation of captures from each other. `batch`: share cookies, storage, cache and renderer with earlier items of the same batch or job that have the same origin and equal options; only for sites that you trust. A capture outside of a batch shares nothing.',
    }),
  blockAds: flag.default(false).meta({
    description: 'Block requests to the hosts of advertising companies.',
  }),
};
