import { z } from 'zod';
import { cookies } from './cookies.ts';
import { credentials } from './credentials.ts';
import { optionFacts } from './facts.ts';
import { flag, listOf, objectOf, textOf } from './fields.ts';
import { headers } from './headers.ts';
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
        'Isolation of captures from each other. `batch`: share cookies, storage, cache and renderer with earlier elements of the same batch or job that have the same origin and equal options; only for sites that you trust. A capture outside of a batch shares nothing.',
    }),
  blockAds: flag.default(false).meta({
    description: 'Block requests to the hosts of advertising companies.',
  }),
};
