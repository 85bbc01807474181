import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { count, instant, sha256 } from './values.ts';

/*
 * How a capture came about. Items that cost nothing are always recorded, the others on request. Every list is bounded
 * and says how many items were left out.
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
    omitted: count.meta({ description: 'How many more there were.' }),
  });
}

export const EvidenceSchema = z.strictObject({
  dialogs: noted(
    z.strictObject({ type: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']), message: z.string() }),
  ).meta({ description: 'Dialogs that the page opened; every one was dismissed.' }),
  popups: noted(z.string()).meta({
    description: 'URLs of pages that the page wanted to open in other windows; none was opened.',
  }),
  cookies: noted(
    z.strictObject({
      name: z.string(),
      value: z.string(),
      domain: z.string(),
      path: z.string(),
      expires: instant.nullable().meta({ description: 'Null: with the session.' }),
      secure: z.boolean(),
      http_only: z.boolean(),
      same_site: z.enum(['Strict', 'Lax', 'None']).nullable(),
    }),
  ).meta({
    description:
      'At the time of the picture, those of third parties too; none when the capture failed. Long values are cut.',
  }),
  redirects: noted(
    z.strictObject({
      url: z.string(),
      status: count.meta({ description: "The hop's HTTP status; 0 when the page sent itself on." }),
      location: z.string().meta({ description: 'Where it led, absolute.' }),
    }),
  )
    .exactOptional()
    .meta({ description: 'Every hop on the way to `final_url`.' }),
  headers: noted(z.strictObject({ name: z.string(), value: z.string() }))
    .exactOptional()
    .meta({
      description: "Of the main document's response. The values of a name that came more than once are lines of one.",
    }),
  tls: z
    .strictObject({
      version: z.string().meta({ examples: ['TLS 1.3'] }),
      cipher: z.string(),
      issuer: z.string(),
      subject: z.string(),
      names: z.array(z.string()).readonly().meta({ description: 'Whom the certificate is for.' }),
      valid_from: instant,
      valid_to: instant,
      fingerprint: z.union([sha256, z.literal('')]).meta({ description: 'SHA-256 of the certificate (DER).' }),
    })
    .nullable()
    .exactOptional()
    .meta({ description: "Of the main document's connection; null when it was not TLS." }),
  console: noted(
    z.strictObject({
      level: z
        .enum(['debug', 'info', 'log', 'warning', 'error', 'exception'])
        .meta({ description: '`exception`: an error that nothing in the page caught.' }),
      text: z.string(),
      url: z.string().meta({ description: 'Where it was said; empty when that is not known.' }),
      line: count.meta({ description: 'From 1; 0 when it is not known.' }),
    }),
  ).exactOptional(),
  network: noted(
    z.strictObject({
      method: z.string(),
      url: z.string(),
      type: z.string().meta({ examples: ['document', 'image', 'xhr'] }),
      status: count.meta({ description: '0 when there was no response.' }),
      bytes: count.meta({ description: 'As they came over the wire.' }),
      time_ms: count.nullable().meta({ description: 'From its start to its end; null when it had not ended.' }),
      failure: z.string().meta({ description: 'Empty when it did not fail.' }),
    }),
  )
    .exactOptional()
    .meta({ description: 'Each request, a redirect being one, in the order in which they began.' }),
  favicon: z
    .strictObject({ url: z.string(), type: z.string(), bytes: count, sha256 })
    .nullable()
    .exactOptional()
    .meta({ description: 'Null when there is none, or it could not be had.' }),
  exceeded: z
    .array(
      z.strictObject({
        limit: z.enum(['requests', 'names', 'bytes']).meta({
          description: '`names`: host names looked up; `bytes`: sent and received.',
        }),
        max: count.meta({ description: 'As much as one capture may have.' }),
        refused: count.meta({ description: 'Requests, lookups or, beyond the bytes, connections that were refused.' }),
      }),
    )
    .exactOptional()
    .meta({ description: 'Limits of the network traffic that the page exceeded: the capture is partial.' }),
});

export type Evidence = Immutable<z.output<typeof EvidenceSchema>>;

type ItemOf<K extends 'dialogs' | 'cookies' | 'redirects' | 'headers' | 'console' | 'network'> = NonNullable<
  Evidence[K]
>['items'][number];

export type NotedDialog = ItemOf<'dialogs'>;
export type NotedCookie = ItemOf<'cookies'>;
export type NotedRedirect = ItemOf<'redirects'>;
export type NotedHeader = ItemOf<'headers'>;
export type NotedMessage = ItemOf<'console'>;
export type NotedRequest = ItemOf<'network'>;
export type NotedTls = NonNullable<Evidence['tls']>;
export type ExceededLimit = NonNullable<Evidence['exceeded']>[number];
export type NotedFavicon = NonNullable<Evidence['favicon']>;
