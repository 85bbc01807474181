import { z } from 'zod';
import { ARTIFACTS, forKinds, forMembers, REQUIRED_KINDS } from '../../capture/artifacts/artifacts.ts';
import { ImageInfoSchema } from '../../capture/artifacts/screenshot-info.ts';
import type { Immutable } from '../../capture/basics/immutable.ts';
import { count, id, instant } from '../../capture/basics/values.ts';
import { FailureCodeSchema } from '../../capture/failure-code.ts';
import { FieldProblemSchema } from '../../capture/failure-details.ts';
import { SnippetSchema } from '../../capture/finding/snippet.ts';
import { KEY_SCOPES } from '../../capture/named-key.ts';
import { degradedParts } from '../../capture/operation/pressure.ts';
import { EvidenceSchema } from '../../capture/result/evidence.ts';
import { ResultRecordSchema, StoredOutputSchema } from '../../capture/result/result.ts';
import { JOB_KINDS } from '../../capture/work/job.ts';
import { ListReportSchema } from '../../capture/work/scan.ts';

/*
 * The JSON of answers. The OpenAPI document is made from these schemas, and the tests validate every answer with them.
 */

/** A result, with the paths of its artifacts in this API. */
export const ResultSchema = ResultRecordSchema.omit({ artifacts: true }).extend({
  ...forMembers((kind) =>
    z.string().meta({ description: `${ARTIFACTS[kind].label}: its path, empty when there is none.` }),
  ),
  outputs: z
    .array(
      StoredOutputSchema.extend({
        path: z.string().meta({ description: 'Empty when it could not be made in time.' }),
        type: z.string().meta({ description: 'Media type.' }),
      }),
    )
    .meta({ description: 'The `outputs` of the request; empty when the capture failed.' }),
});

/** A result with its evidence: the answer to a request for one result. */
const snippets = z.array(SnippetSchema).optional().meta({
  description: 'With `words`: up to three parts of the text in which they were found, and where the image shows them.',
});

/** A result in a list. */
export const ListedResultSchema = ResultSchema.extend({ snippets });

export const DetailedResultSchema = ResultSchema.extend({
  evidence: EvidenceSchema.nullable().meta({
    description: 'Evidence of the capture, as far as it got when it failed. Null when there was no page.',
  }),
  snippets,
});

export const SimilarResultSchema = ResultSchema.extend({
  distance: count.meta({ description: 'Bits of `perception_hash` that differ, of 64.' }),
});

export const ScreenshotInfoSchema = ImageInfoSchema.extend(
  forKinds(REQUIRED_KINDS, (kind) => z.string().meta({ description: `${ARTIFACTS[kind].label}: its path.` })),
);

/** The answer to one item of a batch. */
export const BatchResultSchema = z.strictObject({
  url: z.string(),
  result: ResultSchema.nullable(),
  error: z.string().nullable(),
  code: FailureCodeSchema.nullable(),
});

export type BatchResult = Immutable<z.output<typeof BatchResultSchema>>;

/** A `BatchResult` as a line of an answer. Lines come in any order. */
export const BatchLineSchema = z.strictObject({
  index: count.meta({ description: 'Position of its request, from 0; blank lines do not count.' }),
  ...BatchResultSchema.shape,
  same_as: id.exactOptional().meta({
    description: 'Id of an earlier capture of the same scan that shows the page to which this one was redirected.',
  }),
});

export type BatchLine = Immutable<z.output<typeof BatchLineSchema>>;

/** A job, which `Prefer: respond-async` or a scan creates. */
export const JobSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(['queued', 'running', 'completed', 'cancelled', 'failed']),
  progress: z.strictObject({
    done: count.meta({ description: 'Requests that have an outcome.' }),
    failed: count.meta({ description: 'Requests that failed.' }),
    failed_by: z.record(z.string(), count).meta({ description: 'Number of failures by their code.' }),
    total: count,
  }),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  expires_at: instant.nullable().meta({ description: 'When the finished job is deleted.' }),
  error: z.string().nullable().meta({ description: 'Why the job itself failed; failed captures are in `results`.' }),
  code: FailureCodeSchema.nullable(),
  results: z.array(BatchLineSchema).exactOptional().meta({ description: 'A page of the outcomes so far, by `index`.' }),
});

/** A scan that was accepted. */
export const ScanSchema = JobSchema.omit({ results: true }).extend({
  list: ListReportSchema.meta({ description: 'What the list gave, and what was left out.' }),
});

export type ScanAnswer = Immutable<z.output<typeof ScanSchema>>;

export type JobAnswer = Immutable<z.output<typeof JobSchema>>;

/** Paths to begin with, for people. */
export const StartSchema = z.strictObject({
  capture: z.string(),
  results: z.string(),
  interface: z.string(),
  documentation: z.string(),
  state: z.string(),
});

export const RemovedSchema = z.strictObject({ id });

/** The answer to a change of the marks of several captures. */
export const MarkedSchema = z.strictObject({
  changed: count.meta({ description: 'Captures that have the new marks.' }),
  failed: z
    .array(z.strictObject({ id, code: FailureCodeSchema, error: z.string() }))
    .meta({ description: 'Captures that could not be changed.' }),
  next: z.string().nullable().meta({
    description:
      'The `cursor` for the captures that are left: those beyond `limit`, or all that follow when the database fails midway. Null: none are left.',
  }),
});

export const SessionSchema = z.strictObject({
  required: z.boolean().meta({ description: 'Whether the service has API keys.' }),
  authenticated: z.boolean().meta({ description: 'Whether this client may use the API.' }),
  scope: z.enum(KEY_SCOPES).nullable().meta({ description: 'What it may do; null when it may not use the API.' }),
});

export const ProbeSchema = z.strictObject({
  status: z.enum(['live', 'ready']),
  degraded: degradedParts.exactOptional().meta({ ...degradedParts.meta() }),
});

export const FailureSchema = z.strictObject({
  success: z.literal(false),
  message: z
    .string()
    .meta({ description: 'What `code` means in general: a fixed sentence for each code. For people.' }),
  data: z
    .union([ResultSchema, z.strictObject({ problems: z.array(FieldProblemSchema) })])
    .optional()
    .meta({ description: 'The record of the failed capture, or the invalid fields.' }),
  error: z.string().meta({ description: 'What went wrong with this request. For people; it suffices by itself.' }),
  code: FailureCodeSchema.meta({ description: 'For programs: the meaning of a code never changes.' }),
  request_id: z.string(),
});

/** Returns the envelope of a successful answer. */
export function successSchema<T extends z.ZodType>(data: T) {
  return z.strictObject({ success: z.literal(true), message: z.string(), data, request_id: z.string() });
}
