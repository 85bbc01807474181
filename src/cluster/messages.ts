import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { count } from '../capture/basics/values.ts';
import type { CaptureCommand } from '../capture/command.ts';
import { FailureCodeSchema } from '../capture/failure-code.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { Evidence } from '../capture/result/evidence.ts';
import type { Result } from '../capture/result/result.ts';
import { requestToStore, type StoredRequest } from '../capture/work/stored-request.ts';

/*
 * Messages between api nodes and workers. The processes of a cluster trust each other, and may be of different
 * versions during an upgrade: envelopes are checked, and records pass as they are.
 */

/** Accepts a value unchecked, because another process of the cluster made and checked it. */
function trusted<T>() {
  return z.custom<T>((value) => typeof value === 'object' && value !== null);
}

const id = z.int().positive();
const failure = z.object({ code: FailureCodeSchema.catch('internal'), reason: z.string() });

/** An outcome as a worker reports it. Evidence that is too large to be sent is in the result store. */
const ReportedOutcome = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('stored'),
    result: trusted<Result>(),
    evidence: trusted<Evidence>().nullable(),
    isEvidenceStored: z.boolean(),
    words: z.string().optional(),
  }),
  z.object({ state: z.enum(['failed', 'timed_out']), failure, result: trusted<Result>().nullable() }),
  z.object({ state: z.enum(['rejected', 'cancelled']), failure }),
]);
export type ReportedOutcome = z.output<typeof ReportedOutcome>;

/** A capture, as a worker needs it. */
const ofCapture = {
  /** Time left of the capture's deadline, in milliseconds. */
  leftMs: z.number().positive(),
  /** Number of workers that were asked for the capture, this one included. */
  attempt: z.int().positive(),
  batch: z.string().nullable(),
  apiKeyName: z.string().nullable(),
  requestId: z.string().nullable().default(null),
  request: trusted<StoredRequest>(),
};

/** Returns a capture as a worker needs it. Its callback stays with the api node. */
export function forWorker(
  { request: { callback: _callback, ...request }, batch, apiKeyName, requestId }: CaptureCommand,
  leftMs: number,
  attempt: number,
) {
  return { leftMs, attempt, batch, apiKeyName, requestId, request: requestToStore(request) };
}

/** Requests of a worker to the api node of a ticket. */
export const ToNode = z.discriminatedUnion('type', [
  z.object({ type: z.literal('claim'), id, worker: z.string() }),
  z.object({ type: z.literal('report'), id, worker: z.string(), outcome: ReportedOutcome }),
  /** The worker stops, and another one will get the ticket. */
  z.object({ type: z.literal('return'), id, worker: z.string() }),
  /** The target of a capture was reached in this time, in milliseconds; the connection waits at the worker. */
  z.object({ type: z.literal('reached'), id, worker: z.string(), ms: z.number() }),
  /** The worker has ended a dial without a result. */
  z.object({ type: z.literal('undialled'), id, worker: z.string() }),
]);
export type ToNode = z.output<typeof ToNode>;

/** Answers to claims and reports. */
export const FromNode = z.discriminatedUnion('type', [
  /** `id`: of the capture, which may be another one than the ticket names. */
  z.object({ type: z.literal('run'), id, ...ofCapture }),
  /** Another worker holds the connection of the capture, and has a slot for it. */
  z.object({ type: z.literal('elsewhere') }),
  /** No client waits for the capture any more. */
  z.object({ type: z.literal('gone') }),
  /** Another worker runs the capture that the ticket names: the ticket stays. */
  z.object({ type: z.literal('busy') }),
  z.object({ type: z.literal('noted') }),
]);
export type FromNode = z.output<typeof FromNode>;

/** Requests of an api node to a worker. */
export const ToWorker = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cancel'), id }),
  z.object({ type: z.literal('runs'), id }),
  /** The target of a capture is to be dialled before its ticket is published. `node`: the api node that asks. */
  z.object({ type: z.literal('dial'), id, node: z.string(), ...ofCapture }),
  /** The dial or the connection of a capture is not needed any more. Has no answer. */
  z.object({ type: z.literal('release'), id }),
]);
export type ToWorker = z.output<typeof ToWorker>;

/** `runs`: whether the worker is running the capture, or dials its target. */
export const FromWorker = z.object({ runs: z.boolean() });

/** A question of an api node to another one: which of its captures are in flight. */
export const ToPeer = z.object({
  limit: z.int().positive(),
  requestId: z.string().optional(),
  /** The API key whose captures alone are wanted. */
  ofKey: z.string().optional(),
});

export const FromPeer = z.object({ captures: z.array(trusted<InFlight>()) });

/** The announcement that each process sends once a second, and once more when it ends. */
export const Announcement = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('node'),
    name: z.string(),
    running: count,
    waiting: count,
    /** Those of the running and waiting captures that are items of batches or jobs. */
    items: count.default(0),
  }),
  z.object({
    kind: z.literal('worker'),
    name: z.string(),
    slots: count,
    /** Maximum number of targets that the worker dials at once ahead of its slots. */
    dials: count.default(0),
    /** Captures that wait on the worker for the database. */
    outbox: count,
  }),
  z.object({ kind: z.literal('gone'), name: z.string() }),
]);
export type Announcement = z.output<typeof Announcement>;

const KINDS = new Set<string>(Announcement.options.map(({ shape }) => shape.kind.value));

/** An announcement; undefined for one of a kind that only a later version knows. */
export const AnyAnnouncement = z.union([
  Announcement,
  z.object({ kind: z.string().refine((kind) => !KINDS.has(kind)) }).transform(() => undefined),
]);

/** An event in the stream of events, or in the file of those that wait for it. `n`: its number with its writer. */
export const WrittenEvent = z.object({
  n: z.int().positive(),
  event: z.object({
    type: z.string(),
    host: z.string().nullable(),
    batch: z.string().nullable(),
    api_key_name: z.string().optional(),
    body: z.string(),
    words: z.string().optional(),
    to: z.object({ callback: z.string().optional(), notify: z.array(z.string()).readonly().optional() }).optional(),
    key: z.string().optional(),
  }),
});
export type WrittenEvent = z.output<typeof WrittenEvent>;

/** Bodies below this size are not worth compressing. */
const COMPRESSED_FROM_BYTES = 512;
/** Maximum size of a message's JSON, in bytes: with a request, a result or an event, and without. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;
export const MAX_SMALL_BYTES = 4 * 1024;
/** Size of a message without its body, in bytes. */
export const HEAD_BYTES = 1_024;
const PLAIN = 0;
const DEFLATED = 1;
/** The fastest level, because it already makes requests and results, which are text, small. */
const LEVEL = { level: 1 };

type Message =
  | ToNode
  | FromNode
  | ToWorker
  | z.output<typeof FromWorker>
  | z.output<typeof ToPeer>
  | z.output<typeof FromPeer>
  | Announcement
  | WrittenEvent;

/** Thrown for a message that another version, or no process of this cluster, has sent. */
export class BadMessageError extends Error {
  override readonly name = 'BadMessageError';
}

/** Returns a message's body: a byte that says whether it is compressed, then JSON. */
export function encode(message: Message): Uint8Array {
  return bodyOf(Buffer.from(JSON.stringify(message)));
}

function bodyOf(json: Buffer): Uint8Array {
  return json.length < COMPRESSED_FROM_BYTES
    ? Buffer.concat([Buffer.of(PLAIN), json])
    : Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(json, LEVEL)]);
}

/** Returns a message's body; undefined when it is larger than NATS (`maxPayload`) or the receiver accepts. */
export function encodeWithin(maxPayload: number, message: Message): Uint8Array | undefined {
  const json = Buffer.from(JSON.stringify(message));
  if (json.length > MAX_JSON_BYTES) return undefined;
  const body = bodyOf(json);
  return body.length + HEAD_BYTES > maxPayload ? undefined : body;
}

/**
 * Returns the message of a body. Inflating stops at `maxBytes`.
 * @throws BadMessageError when the body is not a message of this kind.
 */
export function decode<S extends z.ZodType>(schema: S, body: Uint8Array, maxBytes = MAX_JSON_BYTES): z.output<S> {
  try {
    const content = body.subarray(1);
    const json = body[0] === DEFLATED ? inflateRawSync(content, { maxOutputLength: maxBytes }) : content;
    if (json.length > maxBytes) throw new RangeError(`${json.length} bytes, of at most ${maxBytes}`);
    return schema.parse(JSON.parse(Buffer.from(json).toString()));
  } catch (error) {
    throw new BadMessageError('a message cannot be read', { cause: error });
  }
}
