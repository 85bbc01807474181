import type { Observable } from 'rxjs';
import type { Client } from '../capture/client.ts';
import type { CapstanError, FailureCode } from '../capture/errors.ts';
import type { CapstanEvent } from '../capture/events.ts';
import type { MarksChange } from '../capture/finding/marks.ts';
import type { LoadSample } from '../capture/operation/history.ts';
import type { InFlightList, InFlightWanted } from '../capture/operation/in-flight.ts';
import type { CaptureLimits, LimitsChange } from '../capture/operation/limits.ts';
import type { DegradedParts, Pressure } from '../capture/operation/pressure.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import type { BatchItem, CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Result } from '../capture/result/result.ts';
import type { LiveConfig } from '../config/slices.ts';
import type { EventFeed } from '../feed/event-feed.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import type { Thumbnails } from '../imaging/thumbnails.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Tallies } from '../metrics/tallies.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import type { IdempotencyStore } from '../storage/ports/idempotency-store.ts';
import type { QueryStore } from '../storage/ports/query-store.ts';
import type { ResultStore } from '../storage/ports/result-store.ts';
import type { SharedLink, SharedLinkStore } from '../storage/ports/shared-link-store.ts';
import type { BatchSettings, ItemRequest } from '../streams/batch.ts';
import type { Watches } from '../watches/watches.ts';
import type { ManagedReceivers } from './receivers/manage-receivers.ts';

export type { ItemRequest };

/**
 * The service as request handlers see it: all of it, or the part that an isolated key may see. Stores are read-only here;
 * the methods change them.
 */
export interface ServiceView {
  /**
   * Captures one page. Cold: starts when subscribed to; unsubscribing cancels the capture, queued or running. Emits one
   * outcome and completes. Errors with a `CapstanError` when the capture is not admitted: `target_forbidden`,
   * `queue_full`, `shutting_down`, `cluster_unavailable`, or `invalid_request` for a `callback` without a secret to sign
   * it with. `by`: the client that the capture is made for, and an id that `inFlight` reports.
   */
  submit(request: CaptureRequest, by?: Partial<Client> & { readonly requestId?: string }): Observable<CaptureOutcome>;

  /**
   * Captures many pages. Emits each item when it is done, not in the order of the requests. Errors with a `CapstanError`
   * only when the whole batch is not admitted (`queue_full`, `shutting_down`, or a `callback` that `submit` would
   * refuse); a forbidden target is a rejected item. Unsubscribing cancels all unfinished captures. Items are read only
   * when they are needed, so their number is not limited. `callback`: URL that is notified of the end of the batch.
   */
  submitBatch(
    items: Iterable<ItemRequest> | AsyncIterable<ItemRequest>,
    settings?: Omit<BatchSettings, 'to'> & { readonly callback?: string | undefined },
  ): Observable<BatchItem>;

  /** The events with their ids, for subscribers that reconnect. In a cluster, includes the events of other processes. */
  readonly feed: EventFeed;
  /** Metrics computed from the events since the start. */
  readonly tallies: Tallies;
  readonly results: Pick<ResultStore, 'state' | 'get' | 'records' | 'page' | 'similar' | 'wordsOf'>;
  readonly idempotency: IdempotencyStore;
  readonly artifacts: Pick<ArtifactStore, 'has' | 'info' | 'record' | 'open' | 'list'>;
  readonly thumbnails: Thumbnails;
  readonly comparisons: Comparisons;
  /** Captures and batches that run in the background. */
  readonly jobs: Jobs;
  /** Pages that are captured again and again. */
  readonly watches: Omit<Watches, 'stop'>;
  /** Receivers of messages. */
  readonly receivers: ManagedReceivers;
  /** Standing queries over `feed`. */
  readonly queries: QueryStore;
  /** Returns labels of captures that contain a text, whatever its case. Rejects while the database is unavailable. */
  suggestLabels(text: string, limit: number): Promise<readonly string[]>;
  /** Links to captures that need no API key. */
  readonly sharedLinks: SharedLinkStore;
  /**
   * Returns a shared link, and the service as the key that made the link sees it now. Undefined when the link has
   * expired, was revoked, or one of its captures was removed or is not seen any more.
   */
  shared(id: string, sightOf: SightOf): Promise<Shared | undefined>;
  /** Returns those of these links that `shared` would return. */
  stillShared(links: readonly SharedLink[], sightOf: SightOf): Promise<readonly SharedLink[]>;
  /** Whether a request may have a `callback`. */
  readonly takesCallbacks: boolean;
  /**
   * Checks a callback as `submit` and `submitBatch` do, for captures that start later. Emits when it is accepted; errors
   * with `invalid_request` or `target_forbidden`.
   */
  admitCallback(callback: string): Observable<void>;
  /** Returns why `submit` refuses captures now, and counts one refusal; undefined when captures are admitted. */
  refuseUnread(): CapstanError | undefined;
  /** Returns captures that have no outcome yet, oldest first; in a cluster, those of all api nodes. */
  inFlight(wanted: InFlightWanted): Promise<InFlightList>;
  /** Whether captures can be made. */
  readonly readiness: Readiness;
  /** Whether stored captures can be read. */
  readonly reads: Readiness;
  stats(): ServiceStats;
  pressure(): Pressure;
  /** Returns the load in the last hour, oldest first. `after`: milliseconds since 1970; only later samples. */
  loadAfter(after: number): readonly LoadSample[];

  /**
   * Removes a capture, its files and its record. Open readers can finish. Returns false when the capture does not
   * exist. Removes nothing and rejects with `capture_held` when the capture is held, with `database_unavailable` when
   * the database cannot be reached, or with `artifact_elsewhere` when another data directory holds the files.
   */
  remove(id: number, by?: RequestedBy): Promise<boolean>;

  /**
   * Changes the labels, the note and the hold of a capture, and emits what has changed. Resolves with the record;
   * undefined when there is none. Rejects with `invalid_request` when there would be too many labels, and as `remove`
   * does.
   */
  mark(id: number, change: MarksChange, by?: RequestedBy): Promise<Result | undefined>;

  /** Returns why the artifact store has no artifact of a capture: `not_found` or `artifact_elsewhere`. */
  whyMissing(id: number): Promise<CapstanError>;

  /**
   * Changes the given limits, until the service ends; in a cluster, those of the whole cluster, until they are changed
   * again. Captures under way or queued are not affected. Resolves with the limits in force. Rejects with
   * `invalid_request` for an invalid limit (see `LIMIT_BOUNDS` and `CLUSTER_BOUNDS`), and with `cluster_unavailable`.
   */
  setLimits(change: LimitsChange, by?: RequestedBy): Promise<CaptureLimits>;
}

/** The service without HTTP. Node programs embed it, and the HTTP server is built on it. */
export interface CaptureService extends ServiceView {
  readonly results: ResultStore;
  readonly artifacts: ArtifactStore;
  readonly events$: Observable<CapstanEvent>;
  /** Resolves when the first browser has started or has failed to. Earlier captures wait for it. */
  readonly started: Promise<void>;
  /** Kills every browser without waiting for it to end, for a process that is about to exit. */
  kill(): void;

  /**
   * Returns the view of a client that may see only the captures of one API key, as if there were no others. `key`: the
   * name of the key; `''` for captures that no named key requested, which can be read and not listed. The statistics are
   * those of the whole service.
   */
  onlyOf(key: string): ServiceView;

  /**
   * Applies the options that were read from the configuration again. In a cluster, of the limits only the slots of this
   * process change. Whether webhooks are sent at all is decided at the start.
   */
  reload(config: LiveConfig): void;

  /** Reports from now on that the service is not ready, and serves on: load balancers then send clients elsewhere. */
  announceStop(): void;

  /** Refuses new captures, lets those under way finish within `graceMs`, then cancels them and closes everything. */
  stop(graceMs?: number): Promise<void>;
}

export type Readiness =
  | {
      readonly ready: true;
      /** Parts that have failed, although the rest works. */
      readonly degraded: DegradedParts;
    }
  | NotReady;

export interface NotReady {
  readonly ready: false;
  readonly code: FailureCode;
  readonly reason: string;
}

/** The client that requested an administrative action, for the log. */
export interface RequestedBy {
  /** Name of the API key, when it has one. */
  readonly api_key_name?: string;
  /** Fingerprint of the API key. */
  readonly api_key?: string;
  /** Network address of the client. */
  readonly client_address?: string;
}

/** A shared link, and the service with the captures that it may show. */
export interface Shared {
  readonly link: SharedLink;
  readonly service: ServiceView;
}

/** Returns what the key that made a link sees now, see `visibleKey`; undefined when it is not accepted any more. */
export type SightOf = (
  maker: Pick<SharedLink, 'apiKeyName' | 'fingerprint'>,
) => { readonly sees: string | undefined } | undefined;
