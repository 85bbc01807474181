import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count, instant, sha256 } from '../basics/values.ts';
import { faviconHash } from './host-facts.ts';

/*
 * Evidence shows how a capture was made. Items that cost nothing are always recorded, the others on request. Every list
 * is bounded and says how many items were left out.
 */

/** Evidence that is recorded only on request. */
export const EVIDENCE_KINDS = [
  'redirects',
  'headers',
  'tls',
  'console',
  'network',
  'perception_hash',
  'favicon',
  'libraries',
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/** A list with a maximum length. */
export interface Noted<T> {
  readonly items: readonly T[];
  /** Number of items left out. */
  readonly omitted: number;
}

function noted<T extends z.ZodType>(item: T) {
  return z.strictObject({
    items: z.array(item),
    omitted: count.meta({ description: 'Number of items left out.' }),
  });
}

export const EvidenceSchema = z.strictObject({
  dialogs: noted(
    z.strictObject({ type: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']), message: z.string() }),
  ).meta({ description: 'Dialogs that the page opened; every one was dismissed.' }),
  popups: noted(z.string()).meta({
    description: 'URLs of windows that the page tried to open; none was opened.',
  }),
  cookies: noted(
    z.strictObject({
      name: z.string(),
      value: z.string(),
      domain: z.string(),
      path: z.string(),
      expires: instant.nullable().meta({ description: 'Null for a session cookie.' }),
      secure: z.boolean(),
      http_only: z.boolean(),
      same_site: z.enum(['Strict', 'Lax', 'None']).nullable(),
    }),
  ).meta({
    description:
      'Cookies at the time of the screenshot, including those of third parties; none when the capture failed. Long values are cut.',
  }),
  redirects: noted(
    z.strictObject({
      url: z.string(),
      status: count.meta({ description: "The hop's HTTP status; 0 when the page redirected itself." }),
      location: z.string().meta({ description: 'Absolute URL of the next hop.' }),
    }),
  )
    .exactOptional()
    .meta({ description: 'Every hop on the way to `final_url`.' }),
  headers: noted(z.strictObject({ name: z.string(), value: z.string() }))
    .exactOptional()
    .meta({
      description:
        "Headers of the main document's response. The values of a repeated name are joined with line breaks.",
    }),
  tls: z
    .strictObject({
      version: z.string().meta({ examples: ['TLS 1.3'] }),
      cipher: z.string(),
      issuer: z.string(),
      subject: z.string(),
      names: z.array(z.string()).readonly().meta({ description: 'Host names that the certificate is for.' }),
      valid_from: instant,
      valid_to: instant,
      fingerprint: z.union([sha256, z.literal('')]).meta({ description: 'SHA-256 of the certificate (DER).' }),
      chain: z.array(z.base64()).readonly().exactOptional().meta({
        description: 'The certificates that were sent (DER in Base64), the own one first. Absent in older records.',
      }),
    })
    .nullable()
    .exactOptional()
    .meta({ description: "TLS of the main document's connection; null without TLS." }),
  console: noted(
    z.strictObject({
      level: z
        .enum(['debug', 'info', 'log', 'warning', 'error', 'exception'])
        .meta({ description: '`exception`: an error that nothing in the page caught.' }),
      text: z.string(),
      url: z.string().meta({ description: 'URL of the script; empty when unknown.' }),
      line: count.meta({ description: 'Line in the script, from 1; 0 when unknown.' }),
    }),
  ).exactOptional(),
  network: noted(
    z.strictObject({
      method: z.string(),
      url: z.string(),
      type: z.string().meta({ examples: ['document', 'image', 'xhr'] }),
      status: count.meta({ description: '0 when there was no response.' }),
      bytes: count.meta({ description: 'Bytes received, as encoded, with the headers; 0 from a cache.' }),
      start_ms: count.nullable().exactOptional().meta({
        description: 'Milliseconds after the start of the first request; null when unknown. Absent in older records.',
      }),
      time_ms: count.nullable().meta({ description: 'Duration in milliseconds; null when the request had not ended.' }),
      failure: z.string().meta({ description: 'Error text; empty when the request did not fail.' }),
    }),
  )
    .exactOptional()
    .meta({ description: 'Every request in the order of their start. A redirect counts as a request.' }),
  favicon: z
    .strictObject({ url: z.string(), type: z.string(), bytes: count, hash: faviconHash, sha256 })
    .nullable()
    .exactOptional()
    .meta({ description: 'Null when there is none, or it could not be loaded.' }),
  libraries: noted(
    z.strictObject({ name: z.string(), version: z.string().meta({ description: 'Empty when unknown.' }) }),
  )
    .exactOptional()
    .meta({ description: 'JavaScript libraries that run in the page, by what they have set in it.' }),
  exceeded: z
    .array(
      z.strictObject({
        limit: z.enum(['requests', 'names', 'bytes']).meta({
          description: '`names`: host names looked up; `bytes`: sent and received.',
        }),
        max: count.meta({ description: 'Maximum for one capture.' }),
        refused: count.meta({ description: 'Requests, lookups or, beyond the bytes, connections that were refused.' }),
      }),
    )
    .exactOptional()
    .meta({ description: 'Limits of the network traffic that the page exceeded: the capture is partial.' }),
});

export type Evidence = Immutable<z.output<typeof EvidenceSchema>>;

type ItemOf<K extends 'dialogs' | 'cookies' | 'redirects' | 'headers' | 'console' | 'network' | 'libraries'> =
  NonNullable<Evidence[K]>['items'][number];
const NOTHING = { items: [], omitted: 0 };

/** The evidence of a page that was never opened. */
export const NO_EVIDENCE: Evidence = { dialogs: NOTHING, popups: NOTHING, cookies: NOTHING };

export type NotedDialog = ItemOf<'dialogs'>;
export type NotedCookie = ItemOf<'cookies'>;
export type NotedRedirect = ItemOf<'redirects'>;
export type NotedHeader = ItemOf<'headers'>;
export type NotedMessage = ItemOf<'console'>;
export type NotedRequest = ItemOf<'network'>;
export type NotedLibrary = ItemOf<'libraries'>;
export type NotedTls = NonNullable<Evidence['tls']>;
export type ExceededLimit = NonNullable<Evidence['exceeded']>[number];
export type NotedFavicon = NonNullable<Evidence['favicon']>;
