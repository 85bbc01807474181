import { z } from 'zod';
import type { Evidence, Noted } from '../../capture/evidence.ts';

/* How a capture came about, as it is sent. */

const count = z.int().nonnegative();
const instant = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds.' });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A list that has an end. */
function noted<T extends z.ZodType>(item: T): z.ZodType<Noted<z.output<T>>> {
  return z.strictObject({
    items: z.array(item).readonly(),
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
}) satisfies z.ZodType<Evidence>;
