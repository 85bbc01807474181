import { z } from 'zod';
import type { OutputKind } from './artifacts/artifacts.ts';
import type { Immutable } from './basics/immutable.ts';
import { labelList, MAX_LABELS } from './finding/marks.ts';
import { withBannerAnswer } from './options/content.ts';
import { refuseContradictions, refuseSharing, refuseTwoAnswers, refuseTwoTargets } from './options/contradictions.ts';
import { refuseViewport, withDevice, withMedia } from './options/emulation.ts';
import { optionFacts } from './options/facts.ts';
import { filled, flag, noneIfEmpty, objectError } from './options/fields.ts';
import { OPTION_GROUPS, optionFields } from './options/groups.ts';
import { DEFAULT_PDF } from './options/pdf.ts';
import { REQUEST_LIMITS } from './request-limits.ts';
import { EVIDENCE_KINDS, type EvidenceKind } from './result/evidence.ts';
import { HTML_TARGET, readTarget } from './target.ts';
import { parseEach, refusal, withFewValues } from './validate.ts';
import { notifyField } from './work/receiver.ts';
import { scanFields } from './work/scan.ts';
import { DEFAULT_COMPARE, NO_COMPARE, refuseTwoTimings, refuseWithoutMap, watchFields } from './work/watch.ts';
import { refuseOtherValues } from './work/watch-values.ts';

/** Limits of requests, from the configuration. */
export interface RequestLimits {
  /** Maximum number of requests in one batch. */
  readonly maxBatch: number;
  /** Deadline of a capture whose request names none, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum deadline of a capture, in milliseconds. */
  readonly maxTimeoutMs: number;
  /** Whether callbacks are accepted, which requires a secret to sign them with. @default false */
  readonly callbacks?: boolean;
}

const EVIDENCE_OF_SCANS: ReadonlySet<EvidenceKind> = new Set(['redirects', 'headers', 'tls', 'perception_hash']);

export const MAX_URL_CHARACTERS = 8192;
/** Small enough for the body of a request, and for a message of the cluster, of 1 MiB each. */
const MAX_HTML_CHARACTERS = 256 * 1024;
/** Maximum size of one ScreenshotRequest in a body of lines: that of a body of JSON. */
export const MAX_LINE_BYTES = REQUEST_LIMITS.body.max;
/** Small, because thousands of callbacks may wait in memory. */
const MAX_CALLBACK_CHARACTERS = 2048;
/** Checks the form of a callback URL. Its address is checked when the host name is resolved. */
export const callbackUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL', abort: true })
  .max(MAX_CALLBACK_CHARACTERS, { error: `must have at most ${MAX_CALLBACK_CHARACTERS} characters` });
const NO_CALLBACKS =
  'is not accepted: the service was started without --webhook-secret, which deliveries are signed with';

/** Body of `POST /screenshot`, before parsing. */
export type ScreenshotRequest = z.input<z.ZodObject<ReturnType<typeof fieldsOf>, z.core.$strict>>;

/** Options of `POST /screenshot`. Omitted options have their defaults. */
export type CaptureOptions = Immutable<Omit<ScreenshotRequest, 'url' | 'html'>>;

/** A parsed capture request: every option has a value or its default. */
export type CaptureRequest = Immutable<z.output<ReturnType<typeof requestSchemas>['screenshot']>> & {
  /** Id of the scan that the capture belongs to; no field of a body. */
  readonly scan?: string | undefined;
};

/** Returns the schemas of the bodies of `POST /screenshot` and `POST /batch`. */
export function requestSchemas(limits: RequestLimits) {
  const fields = fieldsOf(limits);
  const written = z
    .strictObject(fields, { error: objectError('a ScreenshotRequest', Object.keys(fields)) })
    .superRefine(refuseTwoTargets)
    .superRefine(refuseSharing)
    .superRefine(refuseContradictions)
    .superRefine(refuseTwoAnswers)
    .superRefine(refuseViewport)
    .transform(decide);
  const screenshot = z.preprocess((request, context) => withoutTarget(withFewValues(request, context)), written);

  const tooMany = `must hold at most ${limits.maxBatch} requests: split the batch`;
  const batch = z.strictObject(
    {
      // `requestsOfBatch` parses the elements.
      requests: z
        .array(z.unknown(), { error: 'must be a list of ScreenshotRequest objects' })
        .max(limits.maxBatch, { error: tooMany })
        .meta({
          description: 'What to capture; the answer has the same order.',
          items: { $ref: '#/components/schemas/ScreenshotRequest' },
        }),
      labels: labelList.default([]).meta({
        description: `Labels of all captures of the batch, besides those of each request; at most ${MAX_LABELS} in all.`,
      }),
      concurrency: z
        .int({ error: 'must be an integer of 1 or more' })
        .min(1, { error: 'must be 1 or more' })
        .optional()
        .meta({
          description:
            'Maximum number of captures of this batch at once. Default and upper limit: the service-wide maximum.',
        }),
      callback: callbackField(limits.callbacks ?? false).meta({
        description:
          'URL that is sent the `batch.completed` event, under the same conditions as the callback of a ScreenshotRequest.',
      }),
    },
    { error: objectError('a BatchRequest', ['requests', 'labels', 'concurrency', 'callback']) },
  );

  // A run of a watch is a single capture.
  const { html: _html, allowNetwork: _allowNetwork, url: _url, isolation: _isolation, ...options } = fields;
  const watched = {
    url: targetField(z.string({ error: 'is required: the URL to watch' })).meta({
      description: 'The http or https URL to capture again and again.',
      examples: ['https://example.com/'],
    }),
    ...options,
    callback: callbackField(limits.callbacks ?? false).meta({
      description:
        'URL that is sent `watch.changed`, `watch.failed` and `watch.recovered`, under the same conditions as the callback of a ScreenshotRequest.',
    }),
    notify: notifyField.meta({
      description: 'Names of receivers that are told of `watch.changed`, `watch.failed` and `watch.recovered`.',
      examples: [['team']],
    }),
    ...watchFields,
  };
  const writtenWatch = z
    .strictObject(watched, { error: objectError('a WatchRequest', Object.keys(watched)) })
    .superRefine(refuseTwoTimings)
    .superRefine(refuseWithoutMap)
    .superRefine(refuseOtherValues)
    .superRefine(refuseContradictions)
    .superRefine(refuseTwoAnswers)
    .superRefine(refuseViewport)
    .transform(
      ({
        every,
        schedule,
        timeZone,
        jitter,
        values,
        when,
        compare = values === undefined ? DEFAULT_COMPARE : NO_COMPARE,
        ignore,
        accept,
        confirm,
        keep,
        labels,
        callback,
        notify,
        ...capture
      }) => ({
        request: withOutputs(
          decide({
            ...capture,
            labels: noneIfEmpty(labels),
            ...(values !== undefined && { extract: { ...capture.extract, ...values } }),
            allowNetwork: false,
            isolation: 'capture',
          }),
          compare,
        ),
        callback,
        notify,
        rules: { every, schedule, timeZone, jitter, compare, values, when, ignore, accept, confirm, keep, labels },
      }),
    );

  const watch = z.preprocess(withFewValues<z.input<typeof writtenWatch>>, writtenWatch);

  const { callback: _callback, ...captured } = options;
  const scan = {
    ...scanFields,
    callback: callbackField(limits.callbacks ?? false).meta({
      description:
        'URL that is sent the `batch.completed` event of the scan, under the same conditions as the callback of a ScreenshotRequest.',
    }),
    notify: notifyField.meta({ description: 'Names of receivers that are told of the end of the scan.' }),
    capture: z
      .strictObject(captured, { error: objectError('the options of captures', Object.keys(captured)) })
      .superRefine(refuseContradictions)
      .superRefine(refuseTwoAnswers)
      .superRefine(refuseViewport)
      .transform((capture) => decide({ ...capture, allowNetwork: false, isolation: 'capture' }))
      .transform((request) => ({ ...request, evidence: withEvidenceOfScans(request.evidence) }))
      .prefault({})
      .meta({
        description:
          'Options of each capture, as those of a ScreenshotRequest. `redirects`, `headers`, `tls` and `perception_hash` are added to its `evidence`.',
      }),
  };
  const list = {
    targets: z
      .string({ error: 'is required: the list, as text' })
      .min(1, { error: 'is empty' })
      .meta({
        description:
          'The list: one target on each line (a URL, a host, `host:port`, an address, a network such as `10.0.0.0/24`, a range such as `10.0.0.1-20`; a comment begins with `#`), the XML of nmap, the JSON of masscan, a sitemap, or CSV with a column `url`.',
        examples: ['example.com\n192.0.2.0/28\n198.51.100.7:8443'],
      }),
    ...scan,
  };

  return {
    screenshot,
    batch,
    watch,
    scan: z.strictObject(list, { error: objectError('a ScanRequest', Object.keys(list)) }),
    scanSettings: z.strictObject(scan, { error: objectError('the parameters of a scan', Object.keys(scan)) }),
  };
}

type RequestSchemas = ReturnType<typeof requestSchemas>;

/**
 * Parses the requests of a batch, and adds its labels to each. `nextTurn` waits for the next turn of the event loop.
 * @throws CapstanError with `invalid_request` and every invalid field.
 */
export async function requestsOfBatch(
  { screenshot }: Pick<RequestSchemas, 'screenshot'>,
  { requests, labels }: z.output<RequestSchemas['batch']>,
  nextTurn: () => Promise<unknown>,
): Promise<readonly CaptureRequest[]> {
  const parsed = await parseEach(screenshot, requests, nextTurn);
  const labelled = parsed.map((request) => ({
    ...request,
    labels: noneIfEmpty([...new Set([...(request.labels ?? []), ...labels])]),
  }));
  const message = `must be at most ${MAX_LABELS} with those of the batch`;
  const problems = labelled.flatMap((request, at) =>
    (request.labels?.length ?? 0) > MAX_LABELS ? [{ path: `requests[${at}].labels`, message }] : [],
  );
  if (problems.length > 0) throw refusal(problems);
  return labelled;
}

/** Adds the evidence that reports of scans show. */
function withEvidenceOfScans(chosen: readonly EvidenceKind[] = []): readonly EvidenceKind[] {
  return EVIDENCE_KINDS.filter((kind) => chosen.includes(kind) || EVIDENCE_OF_SCANS.has(kind));
}

/** The body of `POST /scans`. */
export type ScanBody = z.input<ReturnType<typeof requestSchemas>['scan']>;

/** The body of `POST /watches`. */
export type WatchBody = z.input<ReturnType<typeof requestSchemas>['watch']>;

/** A parsed WatchRequest. */
export type WatchRequest = Immutable<z.output<ReturnType<typeof requestSchemas>['watch']>>;

/** Adds the outputs that a comparison reads. */
function withOutputs<R extends Pick<Written, 'outputs'>>(request: R, compared: Record<'text' | 'links', boolean>): R {
  const { outputs = [] } = request;
  const missing = (['text', 'links'] as const).filter((kind) => compared[kind] && !outputs.includes(kind));
  return missing.length === 0 ? request : { ...request, outputs: [...outputs, ...missing] };
}

/** Stands for the URL of a request that names no target. */
const NO_TARGET = Symbol('no target');

/** Marks a request that names no target, so that this is reported along with the problems of its other fields. */
function withoutTarget(request: unknown): unknown {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return request;
  const { url, html }: { url?: unknown; html?: unknown } = request;
  return url === undefined && html === undefined ? { ...request, url: NO_TARGET } : request;
}

/** A URL of bounded length, parsed into a target; `text` carries the error of a missing one. */
export function targetField(text: z.ZodString) {
  return text
    .max(MAX_URL_CHARACTERS, { error: `must have at most ${MAX_URL_CHARACTERS} characters`, abort: true })
    .transform((url, context) => {
      const reading = readTarget(url);
      if (reading.ok) return reading.target;
      context.addIssue({ code: 'custom', message: reading.problem });
      return z.NEVER;
    });
}

function fieldsOf({ timeoutMs, maxTimeoutMs, callbacks = false }: RequestLimits) {
  return {
    url: targetField(
      z.string({
        error: ({ input }) => (input === NO_TARGET ? 'is required, unless html is given' : 'must be a string'),
      }),
    )
      .optional()
      .meta({
        description: 'An http or https URL. Without a scheme, `https://` is tried first and `http://` second.',
        examples: ['https://example.com/', 'example.com'],
      })
      .register(optionFacts, { identity: false, defaultText: 'required, or `html`' }),
    html: filled('HTML', MAX_HTML_CHARACTERS)
      .optional()
      .meta({
        description:
          'HTML to capture in place of a URL. Its URL is `http://html.invalid/`. It has no network without `allowNetwork`.',
        examples: ['<h1>Hello</h1>'],
      }),
    allowNetwork: flag.default(false).meta({
      description:
        'Let `html` send requests as any page does. Relative URLs lead nowhere, unless it contains `<base href>`.',
    }),
    ...optionFields,
    timeoutMs: z
      .int({ error: 'must be an integer of milliseconds, 1 or more' })
      .min(1, { error: 'must be 1 or more' })
      .default(Math.min(timeoutMs, maxTimeoutMs))
      .transform((asked) => Math.min(asked, maxTimeoutMs))
      .meta({
        description: `Deadline of the capture in milliseconds, counted from its start; time in the queue does not count. At most ${maxTimeoutMs}.`,
      })
      .register(optionFacts, { identity: false, defaultText: '`--timeout-ms`' }),
    callback: callbackField(callbacks)
      .meta({
        description:
          'URL that is sent the event with which the capture ended, signed according to Standard Webhooks. Requires `--webhook-secret`. Its address must be public, or allowed by `--allow-webhooks`.',
      })
      .register(optionFacts, { identity: false }),
  };
}

/** Returns the fields of a request under a configuration: the target's fields first, then the options by group. */
export function describedRequest(limits: RequestLimits) {
  const { url, html, allowNetwork, timeoutMs, callback } = fieldsOf(limits);
  return { target: { url, html, allowNetwork, timeoutMs, callback }, ...OPTION_GROUPS };
}

type Written = z.output<z.ZodObject<ReturnType<typeof fieldsOf>, z.core.$strict>>;

/** Resolves options that depend on several fields. */
function decide({ url: target = HTML_TARGET, pdf = DEFAULT_PDF, ...written }: Written) {
  return { target, ...withBannerAnswer(withDevice(withMedia(written))), pdf };
}

function callbackField(taken: boolean) {
  return callbackUrl.refine(() => taken, { error: NO_CALLBACKS }).optional();
}

/** Limits where the configuration does not matter. */
export const DEFAULT_LIMITS: RequestLimits = { maxBatch: 1, timeoutMs: 30_000, maxTimeoutMs: 120_000 };

/** A request without any options. Its URL is an example. */
export const DEFAULT_REQUEST: CaptureRequest = requestSchemas(DEFAULT_LIMITS).screenshot.parse({
  url: 'https://example.com/',
});

/**
 * Returns whether Playwright drives the capture: the request has actions, a form or a function to wait for, or asks for
 * what Playwright writes.
 */
export function isInteractive({ actions, form, waitForFunction, outputs }: CaptureRequest): boolean {
  const isWritten = outputs?.includes('aria') === true;
  return actions !== undefined || form !== undefined || waitForFunction !== undefined || isWritten;
}

/** Returns the kinds of output that the request asks for. */
export function outputsOf({ outputs = [], extract }: CaptureRequest): readonly OutputKind[] {
  return extract === undefined ? outputs : [...outputs, 'extract'];
}

/** Returns whether the page may reach the network. */
export function hasNetwork({ html, allowNetwork }: CaptureRequest): boolean {
  return html === undefined || allowNetwork;
}

/** Returns whether the capture may show what is outside the window. */
export function showsMoreThanWindow({ fullPage, selector, clip, format }: CaptureRequest): boolean {
  return fullPage || selector !== undefined || clip !== undefined || format === 'pdf';
}
