import { z } from 'zod';
import { ARTIFACT_KINDS, OUTPUT_KINDS } from '../artifacts/artifacts.ts';
import { CAPTURE_FORMATS } from '../artifacts/formats.ts';
import type { Immutable } from '../basics/immutable.ts';
import { count, id, instant } from '../basics/values.ts';
import { FailureCodeSchema } from '../failure-code.ts';
import { DownloadSchema } from '../failure-details.ts';
import { markFields } from '../finding/marks.ts';
import { apiKeyName } from '../named-key.ts';
import { CAPTURE_PHASES } from '../phases.ts';
import { BannerSchema } from './banner.ts';
import type { Evidence } from './evidence.ts';
import { HostFactsSchema } from './host-facts.ts';
import { TimingsSchema } from './timings.ts';
import { TRUNCATION_CAUSES } from './truncation.ts';
import { VERDICTS } from './verdict.ts';

/** The stored files of a capture. */
const StoredArtifactsSchema = z.strictObject({
  store: z.string().meta({ description: 'Id of the artifact store.' }),
  kinds: z.array(z.enum(ARTIFACT_KINDS)),
});

/** An output of a capture. */
export const StoredOutputSchema = z.strictObject({
  name: z.enum(OUTPUT_KINDS),
  bytes: count.meta({ description: 'Size of the file; 0 when there is none.' }),
  partial: z.boolean().meta({ description: 'A bound of time or size cut it, or it could not be made in time.' }),
});

/** A record as the result stores keep it. Failed captures have records too. The API sends `SentResult`. */
export const ResultRecordSchema = z.strictObject({
  id,
  url: z.string(),
  final_url: z.string(),
  scheme: z.string(),
  host: z.string(),
  port: z.int().min(0).max(65535),
  title: z.string(),
  response_code: count.meta({ description: "The target's HTTP status; 0 when there was no response." }),
  response_reason: z.string(),
  content_type: z.string(),
  content_length: count.meta({ description: 'Bytes; 0 when there was no response.' }),
  probed_at: instant,
  duration_ms: z.number().nonnegative(),
  artifacts: StoredArtifactsSchema.nullable().meta({
    description: 'Null when no files were stored because the capture failed.',
  }),
  outputs: z.array(StoredOutputSchema).meta({ description: 'The `outputs` of the request; empty when it failed.' }),
  extract: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({
      description:
        'The values that the rules of `extract` found; null without rules, and for values of more than 4 KiB, which are in the output `extract` alone.',
      examples: [{ title: 'Harbour lamp', price: 1234.5 }],
    }),
  format: z.enum(CAPTURE_FORMATS),
  width: count.meta({ description: 'Pixels; 0 when there is no image.' }),
  height: count.meta({ description: 'Pixels; 0 when there is no image.' }),
  truncated: z.boolean().meta({ description: 'The image shows less than requested; `truncated_by` says why.' }),
  truncated_by: z.enum(['', ...TRUNCATION_CAUSES]).meta({
    description:
      'Why the image shows less than requested: the `format` holds no more rows (JPEG 65500, WebP 16383; PNG has no such limit), `maxHeight` was reached, a `limit` of the service (200000 CSS px, 400 megapixels, 128 MiB; of a PDF 200 sheets, 64 MiB), `growth` of the page while it was scrolled (a `maxHeight` follows it further), a `container` around the element of `selector` cuts it off, or the `time` was over (`timeoutMs`).',
  }),
  full_height: count.meta({
    description:
      'Pixels of the whole page in the scale of the image, with `fullPage`; 0 without, or when the page could not be measured in time.',
  }),
  partial: z.boolean().meta({
    description: "The deadline, or a limit of the network traffic (`evidence.exceeded`), cut the page's loading.",
  }),
  partial_phase: z.enum(['', ...CAPTURE_PHASES]).meta({ description: 'The phase that was cut.' }),
  timings: TimingsSchema,
  protocol: z.string().meta({ description: 'Such as `h2` or `http/1.1`; empty when unknown.' }),
  failed: z.boolean(),
  failed_reason: z.string(),
  failed_code: z.union([FailureCodeSchema, z.literal('')]),
  download: DownloadSchema.nullable().meta({
    description: 'The download that the target turned out to be, with `not_a_page`.',
  }),
  perception_hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .nullable()
    .meta({ description: '64-bit difference hash of the screenshot, when requested with `evidence`.' }),
  options_digest: z.string().meta({
    description: 'Equal for captures with equal options; empty when the options may contain secrets.',
  }),
  options: z.record(z.string(), z.unknown()).meta({
    description:
      'Options of the request that differ from the built-in defaults. Sent again as a `ScreenshotRequest`, they make the same capture, except for `options_withheld`.',
    examples: [{ fullPage: true, device: 'iPhone 15' }],
  }),
  options_withheld: z.array(z.string()).meta({
    description: 'Names of further options of the request, which are not kept: they may be secret, or they are long.',
  }),
  banner: BannerSchema.nullable().meta({
    description:
      'What was done about a cookie banner; null when none was looked for: without `acceptCookieBanners` and `rejectCookieBanners`, or when there was no time.',
  }),
  verdict: z.enum(VERDICTS).nullable().meta({
    description:
      'What the page turned out to be: `content`; a wall that bots, visitors without a login, without consent or without a subscription see; an `error` page, whatever its status; a `parked` domain; `blank`: nothing was painted; `unfinished`: skeletons or spinners in place of content. Null when no page was captured, or when it could not be examined.',
  }),
  verdict_confidence: z.number().min(0).max(1).meta({
    description: 'From 0 to 1; 0 without a verdict. A verdict other than `content` has at least 0.6.',
  }),
  verdict_reasons: z.array(z.string()).meta({
    description: 'Names of the signs that the verdict is based on, the strongest first; none for `content`.',
    examples: [['challenge_title', 'challenge_script']],
  }),
  cached: z.boolean().meta({ description: 'The answer is an earlier capture (`cacheMaxAgeMs`).' }),
  remote_ip: z
    .string()
    .nullable()
    .meta({ description: 'IP address that the target answered from; null when unknown.' }),
  host_facts: HostFactsSchema.nullable().meta({
    description: 'What the host was that the page came from; null when no page was captured, or its HTML was given.',
  }),
  ip_info: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable(),
  scan: z.string().exactOptional().meta({ description: 'Id of the scan that the capture belongs to.' }),
  ...markFields,
  api_key_name: apiKeyName,
});

export type Result = Immutable<z.output<typeof ResultRecordSchema>>;

/** The IP lookup's record of the target's address, with its keys unchanged. */
export type IpFacts = NonNullable<Result['ip_info']>;

/** A result with its evidence, which lists leave out. */
export interface DetailedResult extends Result {
  /** Null when there was no page, or when the record was written by a version that recorded no evidence. */
  readonly evidence: Evidence | null;
}

/** The record of a capture as it is stored. */
export interface StoredRecord extends DetailedResult {
  /** The words of its page, packed (`page-words.ts`), when they are indexed. */
  readonly words?: string | undefined;
}
