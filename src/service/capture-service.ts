import type { Observable } from 'rxjs';
import type { CapstanError, FailureCode } from '../capture/errors.ts';
import type { CapstanEvent } from '../capture/events.ts';
import type { CaptureLimits, LimitsChange } from '../capture/limits.ts';
import type { BatchItem, CaptureOutcome } from '../capture/outcome.ts';
import type { Pressure } from '../capture/pressure.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { ServiceStats } from '../capture/stats.ts';
import type { EventFeed } from '../feed/event-feed.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ArtifactStore } from '../storage/artifact-store.ts';
import type { IdempotencyStore } from '../storage/idempotency-store.ts';
import type { ResultStore } from '../storage/result-store.ts';
import type { BatchElement } from '../streams/batch.ts';

export type { BatchElement };

/** The complete service without HTTP. Node programs embed it; the HTTP server is built on it. */
export interface CaptureService {
  /**
   * One capture. Cold: nothing happens before it is subscribed to; unsubscribing cancels, queued or running.
   * Emits one outcome and completes. Errors with a `CapstanError` when it is not admitted: `target_forbidden`,
   * `queue_full`, `shutting_down`; `invalid_request` for a `callback` where there is no secret to sign with.
   */
  submit(request: CaptureRequest): Observable<CaptureOutcome>;

  /**
   * Many captures, at most `concurrency` of them at once (cut to the service's). Emits each item as soon as it is
   * done, in any order. Errors with a `CapstanError` only when the whole batch is not admitted: `queue_full`,
   * `shutting_down`; a forbidden target is a rejected item. Unsubscribing cancels what is left. Elements are read only
   * as they are worked off, so that there may be any number of them; `size`, when it is known beforehand. `callback`
   * is told of the batch's end, and refused as that of a request is.
   */
  submitBatch(
    elements: Iterable<BatchElement> | AsyncIterable<BatchElement>,
    concurrency?: number,
    size?: number,
    callback?: string,
  ): Observable<BatchItem>;

  readonly events$: Observable<CapstanEvent>;
  /** The same events with ids, for subscribers that reconnect; with MongoDB also those of the other processes. */
  readonly feed: EventFeed;
  readonly results: ResultStore;
  readonly idempotency: IdempotencyStore;
  readonly artifacts: ArtifactStore;
  /** Captures and batches that run in the background. */
  readonly jobs: Jobs;
  /** Whether a request may have a `callback`. */
  readonly takesCallbacks: boolean;
  /**
   * What `submitBatch` does first, for those who want to know before they begin to answer: emits when a callback may be
   * taken, errors with `invalid_request` or `target_forbidden`.
   */
  admitCallback(callback: string): Observable<void>;
  /** Resolves when the first browser has been started, or could not be. Captures before that wait for it. */
  readonly started: Promise<void>;
  /** Kills every browser at once, without waiting for their end: for a process that is about to exit. */
  kill(): void;
  /** Returns why `submit` refuses captures now, and counts one as refused; undefined when it admits them. */
  refuseUnread(): CapstanError | undefined;
  readonly readiness: Readiness;
  stats(): ServiceStats;
  pressure(): Pressure;

  /**
   * Removes a capture, its files and its record together; a reader that has it open reads on. False when nothing of it
   * was there. Rejects with `database_unavailable` when the database is away, or with `artifact_elsewhere` when another
   * data directory holds the files, and removes nothing.
   */
  remove(id: number, by?: RequestedBy): Promise<boolean>;

  /** Explains why an artifact cannot be opened: `not_found`, or `artifact_elsewhere`. */
  whyMissing(id: number): Promise<CapstanError>;

  /**
   * Changes the limits that are named, at once and until the service ends; nothing that is inside is lost or started
   * again. Returns the limits in force. Throws a `RangeError` for what is no limit (see `LIMIT_BOUNDS`).
   */
  setLimits(change: LimitsChange, by?: RequestedBy): CaptureLimits;

  /** Refuses new work, gives captures under way `graceMs`, then cancels them and closes everything. */
  stop(graceMs?: number): Promise<void>;
}

/** A part of the service. */
export type DegradedPart = 'database';

export type Readiness =
  | {
      readonly ready: true;
      /** Parts that do not work although captures can be made. */
      readonly degraded: readonly DegradedPart[];
    }
  | { readonly ready: false; readonly code: FailureCode; readonly reason: string };

/** The client that asked for an administrative action, for the log. */
export interface RequestedBy {
  /** The API key, as it may be shown. */
  readonly api_key?: string;
  /** Network address of the client. */
  readonly client?: string;
}
