import { z } from 'zod';
import type { Immutable } from './basics/immutable.ts';
import { count, id, instant } from './basics/values.ts';
import { FailureCodeSchema } from './failure-code.ts';
import { apiKeyName } from './named-key.ts';
import { degradedParts, PressureSchema } from './operation/pressure.ts';
import { ResultRecordSchema } from './result/result.ts';
import { WatchRunSchema } from './work/watch.ts';

/*
 * Everything that happens is an event. Answers, logs, counters, messages and `GET /events` derive from one event
 * stream.
 */

const FailureSchema = z.strictObject({
  code: FailureCodeSchema,
  reason: z.string().meta({ description: 'For people.' }),
});

/** Reason why a message was not delivered. */
const MessageFailureCauseSchema = z.enum(['forbidden', 'refused', 'unreachable', 'dropped', 'shutting_down']).meta({
  description:
    "`forbidden`: the receiver's address may not be dialled; `refused`: it answered with a status that is not retried; `unreachable`: no answer, or one that may change, for about a day; `dropped`: too many messages were waiting; `shutting_down`: the service stopped, and has no database to keep messages in.",
});
export type MessageFailureCause = z.output<typeof MessageFailureCauseSchema>;

/** Cause of the end or the replacement of a browser process. */
const BrowserEndCauseSchema = z.enum(['captures', 'memory', 'idle', 'surplus', 'shutdown', 'hang', 'crash']).meta({
  description:
    '`captures`: it reached the maximum number of captures of a browser; `memory`: it used too much memory; `idle`: no capture needed it; `surplus`: fewer browsers are needed; `shutdown`: the service stops; `hang`: it did not answer; `crash`: it ended by itself.',
});
export type BrowserEndCause = z.output<typeof BrowserEndCauseSchema>;

const ofCapture = {
  at: instant,
  id,
  url: z.string(),
  host: z.string(),
  batch: z.string().nullable(),
  request_id: z.string().optional().meta({ description: '`X-Request-Id` of the request that waits for the capture.' }),
  labels: z.array(z.string()).optional().meta({ description: 'Labels of the capture; left out without any.' }),
  api_key_name: apiKeyName,
};
const ofBatch = {
  at: instant,
  batch: z.string(),
  size: count.meta({ description: 'Requests in the batch.' }),
  api_key_name: apiKeyName,
};
const ofBrowser = { at: instant, pid: count, captures: count.meta({ description: 'Captures that it has done.' }) };
const ofMessage = {
  at: instant,
  message: z.string().meta({ description: "The message's `webhook-id`." }),
  name: z.string().meta({
    description: 'Name of the receiver; `webhook` for one of `--webhook`, `callback` for the callback of a request.',
  }),
  receiver: z.string().meta({ description: "Host and port of the receiver's address; the rest may hold a secret." }),
  about: z.string().meta({ description: 'Type of the event that the message tells.' }),
  capture: id.nullable(),
  batch: z.string().nullable(),
  watch: id.nullable(),
  api_key_name: apiKeyName,
  attempts: count,
};
const ofWatch = {
  at: instant,
  watch: id.meta({ description: 'Id of the watch.' }),
  url: z.string(),
  host: z.string(),
  labels: z.array(z.string()).meta({ description: 'Labels of the watch.' }),
  api_key_name: apiKeyName,
  run: WatchRunSchema,
};
const progress = { done: count, failed: count };

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S, description: string) =>
  z.strictObject({ type: z.literal(type), ...shape }).meta({ description });

const result = { result: ResultRecordSchema };
const failure = { failure: FailureSchema };
const failedResult = { ...failure, result: ResultRecordSchema.nullable() };
const marked = {
  ...ofCapture,
  ...result,
  by: z.string().meta({ description: 'Name of the API key that did it; empty when the key has no name.' }),
};
const reason = { cause: BrowserEndCauseSchema, reason: z.string().meta({ description: 'For people.' }) };

export const CapstanEventSchema = z.discriminatedUnion('type', [
  event('capture.queued', ofCapture, 'The capture was admitted.'),
  event(
    'capture.started',
    { ...ofCapture, waited_ms: z.number().nonnegative() },
    'The capture was given a slot after `waited_ms` milliseconds in the queue, or its target was not reached.',
  ),
  event('capture.stored', { ...ofCapture, ...result }, 'The capture was stored.'),
  event('capture.failed', { ...ofCapture, ...failedResult }, 'The capture failed.'),
  event('capture.timed_out', { ...ofCapture, ...failedResult }, 'The deadline passed before anything was captured.'),
  event('capture.cancelled', { ...ofCapture, ...failure }, 'The capture was cancelled.'),
  event(
    'capture.rejected',
    { ...ofCapture, ...failure },
    'The capture was refused: by policy, because the queue was full, or because the service was stopping. `url` and `host` are empty when the request was refused before its body was read.',
  ),
  event(
    'capture.reused',
    { ...ofCapture, ...result },
    'An earlier capture, whose id this is, was the answer; nothing was captured.',
  ),
  event('capture.marked', marked, 'The labels or the note of a capture were changed.'),
  event('capture.held', marked, 'A hold was set: the capture is kept whatever the limits say.'),
  event('capture.released', marked, 'The hold of a capture was lifted.'),
  event('batch.accepted', { ...ofBatch, concurrency: count }, 'A batch was accepted.'),
  event('batch.progress', { ...ofBatch, ...progress }, 'Captures of the batch have ended.'),
  event('batch.completed', { ...ofBatch, ...progress }, 'Every capture of the batch has ended.'),
  event('watch.run', ofWatch, 'A watch captured its page and compared it.'),
  event(
    'watch.changed',
    {
      ...ofWatch,
      comparison: z.string().nullable().meta({
        description: 'Path of the comparison of both captures; null when the capture before was removed.',
      }),
    },
    'The page of a watch has changed: `run` names both captures and what differs.',
  ),
  event(
    'watch.failed',
    ofWatch,
    'The page of a watch could not be captured, or is not content. Emitted for the first failure in a row.',
  ),
  event('watch.recovered', ofWatch, 'The page of a watch can be captured again.'),
  event('browser.launched', ofBrowser, 'A browser process was started.'),
  event('browser.retired', { ...ofBrowser, ...reason }, 'A browser process was replaced.'),
  event('browser.crashed', { ...ofBrowser, ...reason }, 'A browser process ended unexpectedly.'),
  event(
    'pressure.changed',
    { at: instant, ...PressureSchema.omit({ cluster: true }).shape, degraded: degradedParts },
    'The service started or stopped admitting captures, or its database cannot be used or can be used again.',
  ),
  event(
    'message.delivered',
    {
      ...ofMessage,
      status: count.nullable().meta({ description: "HTTP status of the receiver's answer; null without HTTP." }),
      duration_ms: z.number().nonnegative().meta({ description: 'Since the event, retries included.' }),
    },
    'A receiver took the message.',
  ),
  event(
    'message.failed',
    {
      ...ofMessage,
      cause: MessageFailureCauseSchema,
      reason: z.string().meta({ description: 'For people.' }),
      status: count.nullable().meta({ description: 'HTTP status of the last answer; null when there was none.' }),
    },
    'A message was given up.',
  ),
]);

export type CapstanEvent = Immutable<z.output<typeof CapstanEventSchema>>;
export type EventType = CapstanEvent['type'];

/** The words of the page of a stored capture, for filters. */
export interface UnsentWords {
  /** The packed words of the page, when they are indexed. */
  readonly words?: string | undefined;
}

/** Receivers that an event names, in addition to those of the operator. */
export interface Recipients {
  /** URL. */
  readonly callback?: string | undefined;
  /** Names of receivers. */
  readonly notify?: readonly string[] | undefined;
}

/** Data that events carry and that subscribers are not sent. */
export interface Unsent extends UnsentWords {
  /** Only on events that receivers get: the end of a capture or batch, and the findings of a watch. */
  readonly to?: Recipients | undefined;
}

/** Every type of event. */
const EVENT_TYPES = CapstanEventSchema.options.map(({ shape }) => shape.type.value);

type EventGroup = EventType extends `${infer Group}.${string}` ? Group : never;

/** Whether the events of a group belong to API keys. Every subscriber sees the events of the other groups. */
const BELONG_TO_KEYS: Readonly<Record<EventGroup, boolean>> = {
  capture: true,
  batch: true,
  watch: true,
  browser: false,
  pressure: false,
  message: true,
};

const OF_ALL_KEYS = Object.entries(BELONG_TO_KEYS).flatMap(([group, ofKeys]) => (ofKeys ? [] : [`${group}.`]));

/** Whether every subscriber may see events of this type. */
export function isOfAllKeys(type: string): boolean {
  return OF_ALL_KEYS.some((group) => type.startsWith(group));
}

/** `capture.*`: all types of a group. */
const EVENT_GROUPS = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))];

/** Names that filters take: types and groups. */
export const EVENT_NAMES: readonly string[] = [...EVENT_TYPES, ...EVENT_GROUPS];

export type CaptureEvent = Extract<CapstanEvent, { type: `capture.${string}` }>;
export type BatchEvent = Extract<CapstanEvent, { type: `batch.${string}` }>;
export type WatchEvent = Extract<CapstanEvent, { type: `watch.${string}` }>;
/** Events about the result of a run of a watch, not about the run itself. */
export type WatchNews = Exclude<WatchEvent, { type: 'watch.run' }>;
export type BrowserEvent = Extract<CapstanEvent, { type: `browser.${string}` }>;
export type PressureEvent = Extract<CapstanEvent, { type: `pressure.${string}` }>;
export type DeliveryEvent = Extract<CapstanEvent, { type: `message.${string}` }>;
