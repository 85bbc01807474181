import type { Download, Failure, FailureCode } from './errors.ts';
import type { Evidence } from './evidence.ts';
import type { CaptureFormat, CaptureRequest } from './request.ts';

export type { CaptureFormat, CaptureRequest } from './request.ts';

/*
 * What flows through the house: a request goes in, a command carries it, a snapshot comes back from a browser, a
 * result is kept. What is stored and sent as it is (Result, ScreenshotInfo) has the wire's key names.
 */

/** A request on its way: it has an id, and can be cancelled. */
export interface CaptureCommand {
  /** The capture's id, which becomes its result's id. */
  readonly id: number;
  readonly request: CaptureRequest;
  /** The batch that it belongs to. */
  readonly batch: string | null;
  /** Aborted when nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
}

/** What a browser actor saw of a page. */
export interface Snapshot {
  readonly finalUrl: string;
  readonly title: string;
  /** HTTP status of the main document. */
  readonly responseCode: number;
  readonly responseReason: string;
  /** MIME type of the main document. */
  readonly contentType: string;
  /** Bytes of the main document's body. */
  readonly contentLength: number;
  readonly image: Uint8Array;
  /** Serialised DOM at the time of the screenshot. */
  readonly html: string;
  /** Pixels of the image. */
  readonly width: number;
  readonly height: number;
  /** True when it shows less than was asked for, because one screenshot holds no more. */
  readonly truncated: boolean;
  /** Pixels of the whole page, with `fullPage`; 0 without. */
  readonly fullHeight: number;
  /** The phase that the deadline cut: this is what was there. Null when none was. */
  readonly cutPhase: CapturePhase | null;
  readonly timings: Timings;
  /** As Navigation Timing has it: `h2`, `http/1.1`; `''` when it is not known. */
  readonly protocol: string;
  /** The address that the target answered from, when it is known. */
  readonly remoteIp: string | null;
  readonly evidence: Evidence;
}

/** The way of a capture through the browser, in its order. */
export const CAPTURE_PHASES = [
  'open',
  'navigate',
  'load',
  'interact',
  'wait',
  'settle',
  'picture',
  'evidence',
] as const;
export type CapturePhase = (typeof CAPTURE_PHASES)[number];

/** Whole milliseconds in each phase that was entered. */
export type Timings = { readonly [phase in CapturePhase]?: number | undefined };

/** A record of the store, and what the API sends. A failed capture is a record too. */
export interface Result {
  /** Below 2^53; grows with time. */
  readonly id: number;
  readonly url: string;
  /** `''` when there was no response. */
  readonly final_url: string;
  readonly scheme: string;
  /** Lower-case, punycode, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly title: string;
  /** 0 when there was no response. */
  readonly response_code: number;
  readonly response_reason: string;
  readonly content_type: string;
  /** Bytes; 0 when there was no response. */
  readonly content_length: number;
  /** ISO 8601, UTC, milliseconds: when the capture was started. */
  readonly probed_at: string;
  readonly duration_ms: number;
  /** Null when nothing was stored besides the record: the capture failed. */
  readonly artifacts: StoredArtifacts | null;
  readonly format: CaptureFormat;
  /** Pixels; 0 when there is no image. */
  readonly width: number;
  readonly height: number;
  readonly truncated: boolean;
  /** Pixels of the whole page, with `fullPage`; 0 without. */
  readonly full_height: number;
  /** True when the deadline cut the page's loading: the screenshot shows what was there. */
  readonly partial: boolean;
  /** The phase that the deadline cut, `''` when none was. */
  readonly partial_phase: CapturePhase | '';
  readonly timings: Timings;
  /** `h2`, `http/1.1`; `''` when it is not known. */
  readonly protocol: string;
  readonly failed: boolean;
  readonly failed_reason: string;
  readonly failed_code: FailureCode | '';
  /** What the target was in place of a page. */
  readonly download: Download | null;
  /** The 64-bit difference hash of the screenshot, 16 hex digits, when it was asked for. */
  readonly perception_hash: string | null;
  /** SHA-256 of how it was captured, hex: equal for captures with equal options; `''` when they held secrets. */
  readonly options_digest: string;
  /** True in an answer that is an earlier capture (`cacheMaxAgeMs`). */
  readonly cached: boolean;
  /** The address that the target answered from; null when it is not known. */
  readonly remote_ip: string | null;
  /** What is known about `remote_ip`, with `--ipinfo`; null when it was not asked or could not be had. */
  readonly ip_info: IpFacts | null;
}

/** What can be stored of a page: its screenshot (or PDF) and its HTML snapshot. */
export const ARTIFACT_KINDS = ['image', 'html'] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** The artifacts of a capture. */
export interface StoredArtifacts {
  /** Id of the artifact store that holds them; null in records written before stores had ids. */
  readonly store: string | null;
  readonly kinds: readonly ArtifactKind[];
}

/** What a result says about the address it came from: the IP client's record, its keys unchanged. */
export type IpFacts = Readonly<Record<string, string | number | boolean | null>>;

/** Describes the stored image of one capture. */
export interface ScreenshotInfo {
  readonly id: number;
  readonly url: string;
  readonly host: string;
  readonly title: string;
  readonly format: CaptureFormat;
  readonly width: number;
  readonly height: number;
  /** Size of the image in bytes. */
  readonly bytes: number;
  /** Lower-case hex digest of the image. */
  readonly sha256: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly captured_at: string;
}

/** What may be asked of the service at once. */
export interface CaptureLimits {
  /** Captures that may run at once, service-wide. */
  readonly maxConcurrent: number;
  /** Captures that may wait. */
  readonly maxQueue: number;
}

/** What the limits may be set to, at the start and while the service runs. */
export const LIMIT_BOUNDS = {
  maxConcurrent: { min: 1, max: 1000 },
  maxQueue: { min: 0, max: 1_000_000 },
} as const satisfies Record<keyof CaptureLimits, { readonly min: number; readonly max: number }>;

/** Why new work is refused although there may be room. */
export interface Overload {
  /** For people. */
  readonly reason: string;
  /** Captures that may be inside all the same. */
  readonly most: number;
  /** Milliseconds that it lasts at least: who comes back sooner is refused again. */
  readonly minMs: number;
}

/** How much the service has to do, and whether it takes more. What `GET /pressure` sends. */
export interface Pressure {
  readonly running: number;
  readonly queued: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** Per cent of all processors of the machine, over the last second. */
  readonly cpu: number;
  /** Per cent of the memory of the machine, or of the service's control group; null where the system does not tell. */
  readonly memory: number | null;
  /** Milliseconds: 99th percentile of the last second. */
  readonly eventLoopDelayMs: number;
  /** Whether a capture that is asked for now is taken. */
  readonly accepting: boolean;
  /** Why not, for people; `''` when it is. */
  readonly reason: string;
}

/** How a capture ended: exactly one of these, for every capture that was asked for. */
export type CaptureOutcome =
  | { readonly state: 'stored'; readonly result: Result; readonly evidence: Evidence | null }
  /** `result` is the failed record; null when not even that could be kept. */
  | { readonly state: 'failed' | 'timed_out'; readonly failure: Failure; readonly result: Result | null }
  | { readonly state: 'rejected' | 'cancelled'; readonly failure: Failure };

/** One element of a batch, done. */
export interface BatchItem {
  /** Place of its request in the batch, from 0. */
  readonly index: number;
  readonly url: string;
  readonly outcome: CaptureOutcome;
}

interface CaptureEventBase {
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly id: number;
  readonly url: string;
  readonly host: string;
  readonly batch: string | null;
}

interface BatchEventBase {
  readonly at: string;
  readonly batch: string;
  /** Requests in the batch. */
  readonly size: number;
}

interface BrowserEventBase {
  readonly at: string;
  readonly pid: number;
  /** Captures that it has done. */
  readonly captures: number;
}

interface WebhookEventBase {
  readonly at: string;
  /** The message's `webhook-id`. */
  readonly webhook: string;
  /** Host and port of its URL: the rest may hold somebody's key. */
  readonly receiver: string;
  /** Type of the event that was to be told. */
  readonly about: string;
  readonly capture: number | null;
  readonly batch: string | null;
  readonly attempts: number;
}

/**
 * Why a message was not delivered. `forbidden`: the receiver's address may not be dialled; `refused`: it answered that
 * it does not want it; `unreachable`: no answer, or one that may change, to the last attempt; `dropped`: too much was
 * waiting.
 */
export type WebhookFailureCause = 'forbidden' | 'refused' | 'unreachable' | 'dropped' | 'shutting_down';

/** Everything that reports on captures (answers, logs, counters, live events) derives from a stream of these. */
export type CapstanEvent =
  | (CaptureEventBase & { readonly type: 'capture.queued' })
  | (CaptureEventBase & { readonly type: 'capture.started'; readonly waited_ms: number })
  | (CaptureEventBase & { readonly type: 'capture.stored'; readonly result: Result })
  | (CaptureEventBase & {
      readonly type: 'capture.failed' | 'capture.timed_out';
      readonly failure: Failure;
      readonly result: Result | null;
    })
  | (CaptureEventBase & { readonly type: 'capture.cancelled' | 'capture.rejected'; readonly failure: Failure })
  /** `id` is that of an earlier capture, which was the answer; nothing was captured. */
  | (CaptureEventBase & { readonly type: 'capture.reused'; readonly result: Result })
  | (BatchEventBase & { readonly type: 'batch.accepted'; readonly concurrency: number })
  | (BatchEventBase & { readonly type: 'batch.progress'; readonly done: number; readonly failed: number })
  | (BatchEventBase & { readonly type: 'batch.completed'; readonly done: number; readonly failed: number })
  | (BrowserEventBase & { readonly type: 'browser.launched' })
  | (BrowserEventBase & { readonly type: 'browser.retired' | 'browser.crashed'; readonly reason: string })
  /** `accepting` is another than it was a second before. */
  | (Pressure & { readonly at: string; readonly type: 'pressure.changed' })
  | (WebhookEventBase & {
      readonly type: 'webhook.delivered';
      /** What the receiver answered. */
      readonly status: number;
      /** From the end of the capture or batch, retries included. */
      readonly duration_ms: number;
    })
  | (WebhookEventBase & {
      readonly type: 'webhook.failed';
      readonly cause: WebhookFailureCause;
      /** For people. */
      readonly reason: string;
      /** Of the last answer; null when there was none. */
      readonly status: number | null;
    });

export type CaptureEvent = Extract<CapstanEvent, { type: `capture.${string}` }>;
export type BatchEvent = Extract<CapstanEvent, { type: `batch.${string}` }>;
export type BrowserEvent = Extract<CapstanEvent, { type: `browser.${string}` }>;
export type PressureEvent = Extract<CapstanEvent, { type: `pressure.${string}` }>;
export type WebhookEvent = Extract<CapstanEvent, { type: `webhook.${string}` }>;
