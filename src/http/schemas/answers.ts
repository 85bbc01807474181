import { z } from 'zod';
import type { SentResult, SentScreenshotInfo } from '../../capture/artifact-paths.ts';
import { CAPTURE_PHASES } from '../../capture/domain.ts';
import { CATALOGUE, type FailureCode } from '../../capture/errors.ts';
import { CAPTURE_FORMATS } from '../../capture/request.ts';
import type { ServiceStats } from '../../service/capture-service.ts';
import type { JobKind, JobState } from '../../storage/job-store.ts';
import type { DetailedResult, SimilarResult } from '../../storage/result-store.ts';
import { EvidenceSchema } from './evidence.ts';

/*
 * What is sent, as schemas: the OpenAPI document is made from them, and the tests hold every answer against them.
 */

/** One element of a batch's answer. */
export interface BatchResult {
  readonly url: string;
  readonly result: SentResult | null;
  readonly error: string | null;
  readonly code: FailureCode | null;
}

/** The same in an answer of lines, where it may stand anywhere. */
export interface BatchLine extends BatchResult {
  readonly index: number;
}

/** Work that nobody waits for. */
export interface JobAnswer {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly progress: { readonly done: number; readonly failed: number; readonly total: number };
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly expires_at: string | null;
  readonly error: string | null;
  readonly code: FailureCode | null;
  readonly results?: readonly BatchLine[];
}

const id = z.int().positive().meta({ description: 'Below 2^53; grows with time.' });
const count = z.int().nonnegative();
const instant = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds.' });
const format = z.enum(CAPTURE_FORMATS);

const failureCode = z.enum(Object.keys(CATALOGUE).filter(isFailureCode));

export const ResultSchema = z.strictObject({
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
  screenshot: z.string().meta({ description: 'Path of the image, empty when there is none.' }),
  html: z.string().meta({ description: 'Path of the HTML copy, empty when there is none.' }),
  format,
  width: count.meta({ description: 'Pixels; 0 when there is no image.' }),
  height: count.meta({ description: 'Pixels; 0 when there is no image.' }),
  truncated: z.boolean().meta({ description: 'It shows less than was asked for: one picture holds no more.' }),
  full_height: count.meta({ description: 'Pixels of the whole page, with `fullPage`; 0 without.' }),
  partial: z.boolean().meta({ description: "The deadline cut the page's loading: this is what was there." }),
  partial_phase: z.enum(['', ...CAPTURE_PHASES]).meta({ description: 'The phase that was cut.' }),
  timings: z
    .partialRecord(z.enum(CAPTURE_PHASES), count)
    .meta({ description: 'Milliseconds in each phase that the capture went through.' }),
  protocol: z.string().meta({ description: '`h2`, `http/1.1`; empty when it is not known.' }),
  failed: z.boolean(),
  failed_reason: z.string(),
  failed_code: z.union([failureCode, z.literal('')]),
  download: z
    .strictObject({ name: z.string(), type: z.string(), bytes: count.nullable() })
    .nullable()
    .meta({ description: 'What the target was in place of a page, with `not_a_page`.' }),
  perception_hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .nullable()
    .meta({ description: '64-bit difference hash of the picture, when it was asked for.' }),
  options_digest: z.string().meta({
    description: 'Equal for captures that were made with equal options; empty for options that may hold secrets.',
  }),
  cached: z.boolean().meta({ description: 'The answer is an earlier capture (`cacheMaxAgeMs`).' }),
  remote_ip: z.string().nullable().meta({ description: 'The address that the target answered from.' }),
  ip_info: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable(),
}) satisfies z.ZodType<SentResult>;

/** Whoever asks for one record is told how it came about. */
export const DetailedResultSchema = z.strictObject({
  ...ResultSchema.shape,
  evidence: EvidenceSchema.nullable().meta({
    description:
      'How the capture came about, or, when it failed, how far. Null when there was no page, or an earlier version made it.',
  }),
}) satisfies z.ZodType<SentResult<DetailedResult>>;

export const SimilarResultSchema = z.strictObject({
  ...ResultSchema.shape,
  distance: count.meta({ description: 'Bits of `perception_hash` that differ, of 64.' }),
}) satisfies z.ZodType<SentResult<SimilarResult>>;

export const ScreenshotInfoSchema = z.strictObject({
  id,
  url: z.string(),
  host: z.string(),
  title: z.string(),
  format,
  width: count,
  height: count,
  bytes: count.meta({ description: 'Size of the image.' }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  captured_at: instant,
  image: z.string(),
  html: z.string(),
}) satisfies z.ZodType<SentScreenshotInfo>;

export const BatchResultSchema = z.strictObject({
  url: z.string(),
  result: ResultSchema.nullable(),
  error: z.string().nullable(),
  code: failureCode.nullable(),
}) satisfies z.ZodType<BatchResult>;

export const BatchLineSchema = z.strictObject({
  index: count.meta({ description: 'Place of its request among the requests, from 0; blank lines do not count.' }),
  ...BatchResultSchema.shape,
}) satisfies z.ZodType<BatchLine>;

export const JobSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['screenshot', 'batch']),
  state: z.enum(['queued', 'running', 'completed', 'cancelled', 'failed']),
  progress: z.strictObject({
    done: count.meta({ description: 'Requests that have an outcome.' }),
    failed: count.meta({ description: 'Those of them that are failures.' }),
    total: count,
  }),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  expires_at: instant.nullable().meta({ description: 'When a finished job is forgotten.' }),
  error: z.string().nullable().meta({ description: 'Why the job itself failed; what failed in it is in `results`.' }),
  code: failureCode.nullable(),
  results: z
    .array(BatchLineSchema)
    .readonly()
    .exactOptional()
    .meta({ description: 'A page of the outcomes that are there, by `index`.' }),
}) satisfies z.ZodType<JobAnswer>;

export const ServiceStatsSchema = z.strictObject({
  uptime_ms: z.number().nonnegative(),
  captures: z
    .strictObject({
      accepted: count,
      stored: count,
      failed: count,
      timed_out: count,
      cancelled: count,
      rejected: count.meta({ description: 'Came in, and were turned away at their turn.' }),
      refused: count.meta({ description: 'Never came in.' }),
      reused: count.meta({ description: 'Answered with an earlier capture, without coming in.' }),
      inside: count.meta({ description: 'Waiting or running now.' }),
    })
    .meta({ description: 'Since the start, by how they ended.' }),
  batches: z.strictObject({ accepted: count, completed: count }),
  webhooks: z
    .strictObject({
      delivered: count,
      failed: count,
      dropped: count.meta({ description: 'Those of the failed for which there was no room.' }),
      pending: count.meta({ description: 'Waiting or under way now.' }),
    })
    .meta({ description: 'Messages to receivers since the start.' }),
  queue: z.strictObject({ running: count, queued: count, max_concurrent: count, max_queue: count }),
  pool: z.strictObject({
    busy: count,
    idle: count,
    browsers: z.array(z.strictObject({ pid: count, captures: count, retiring: z.boolean() })),
    launches: count,
    crashes: count,
  }),
  store: z.strictObject({
    kind: z.enum(['none', 'sqlite', 'mongo']),
    state: z.enum(['off', 'up', 'down']),
    outbox: count.meta({ description: 'Records that wait on disk for the database.' }),
    bytes: count.nullable().meta({
      description: 'Bytes of all files of captures, with `--retain-bytes` and once they are counted; else null.',
    }),
  }),
  retention: z
    .strictObject({ screenshots: count, records: count, bytes_freed: count })
    .nullable()
    .meta({ description: 'Removed because of `--retain-days` and `--retain-bytes` since the start; null without.' }),
  ip_info: z
    .strictObject({ known: count, missing: count })
    .nullable()
    .meta({ description: 'Addresses that were looked up, and how many could not be had; null without `--ipinfo`.' }),
  log: z
    .strictObject({ dropped: count })
    .meta({ description: 'Log lines that were dropped since the start, because they could not be written.' }),
}) satisfies z.ZodType<ServiceStats>;

export const RemovedSchema = z.strictObject({ id });

export const ProbeSchema = z.strictObject({ status: z.enum(['live', 'ready']) });

export const FieldProblemSchema = z.strictObject({
  path: z
    .string()
    .meta({ description: 'Where: `requests[3].url`; empty for the whole.', examples: ['requests[3].url'] }),
  message: z.string().meta({ description: 'What would be right.' }),
});

export const FailureSchema = z.strictObject({
  success: z.literal(false),
  message: z.string(),
  data: z
    .union([ResultSchema, z.strictObject({ problems: z.array(FieldProblemSchema) })])
    .optional()
    .meta({ description: 'The failed result of a capture that was tried, or the bad fields.' }),
  error: z.string().meta({ description: 'For people.' }),
  code: failureCode.meta({ description: 'For programs.' }),
  request_id: z.string(),
});

/** The envelope around what was asked for. */
export function successSchema<T extends z.ZodType>(data: T) {
  return z.strictObject({ success: z.literal(true), message: z.string(), data, request_id: z.string() });
}

function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(CATALOGUE, text);
}
