import {
  asyncScheduler,
  catchError,
  finalize,
  map,
  Observable,
  of,
  type SchedulerLike,
  Subscription,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { ANY_CLIENT, type Client } from '../capture/client.ts';
import type { Failure } from '../capture/errors.ts';
import type { Recipients } from '../capture/events.ts';
import { type BatchItem, type CaptureOutcome, outcomeOfError } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { CapturePipeline, SubmitOptions } from './capture-pipeline.ts';
import { batchAccepted, batchCompleted, batchProgressed, type EventStream } from './events.ts';
import { type ItemSource, pullMap } from './pull-map.ts';
import { createReadAhead } from './read-ahead.ts';
import { createReadPace } from './read-pace.ts';

export interface BatchOptions {
  readonly pipeline: Pick<CapturePipeline, 'admitBatch' | 'limits' | 'maxDials' | 'maxPerBatch'>;
  /** Submits one item. An error becomes its outcome. */
  readonly submit: (
    request: CaptureRequest,
    options: Client & Required<Pick<SubmitOptions, 'batch' | 'item'>>,
  ) => Observable<CaptureOutcome>;
  readonly events: EventStream;
  /** Generates the id of a new batch. */
  readonly ids: () => string;
  /** Maximum number of captures of one batch at the same time. @default The service's limit */
  readonly maxConcurrency?: number | null;
  readonly scheduler?: SchedulerLike;
}

/**
 * Time without a capture after which a batch gives its places back, in milliseconds. Longer than the round trip of a
 * client that reads each outcome before it sends its next request.
 */
const IDLE_MS = 1_000;

/** A request, or an invalid one that becomes an item without being captured. */
export type ItemRequest = CaptureRequest | { readonly url: string; readonly failure: Failure };

/**
 * The client that a batch is made for. `id`: of the batch; by default a new one. `onBatch`: called with the id of the
 * batch once the batch is admitted.
 */
type BatchRequester = Partial<Client> & { readonly id?: string; readonly onBatch?: (id: string) => void };

/** How a batch is run, and for whom. */
export interface BatchSettings {
  /**
   * Maximum number of its captures that wait for a slot or run; others are dialled ahead of them.
   * @default The service's limit, which is also the maximum
   */
  readonly concurrency?: number | undefined;
  /** Number of items, where it is known in advance. @default The length of an array */
  readonly size?: number | undefined;
  /** Receivers of the batch's end. */
  readonly to?: Recipients | undefined;
  readonly by?: BatchRequester;
}

/**
 * Runs many captures. Cold. Emits each item as soon as it is finished; a failed item fails no other. Errors with a
 * `CapstanError` when the batch is not admitted (`queue_full`, `shutting_down`), and with the error of its source.
 * Unsubscribing, or an error of the source, cancels all unfinished captures. `batch.completed` is always a batch's last
 * event.
 */
export type RunBatch = (items: ItemSource<ItemRequest>, settings?: BatchSettings) => Observable<BatchItem>;

export function createBatchRunner(options: BatchOptions): RunBatch {
  const { pipeline, submit, events, ids, scheduler = asyncScheduler } = options;
  const maxConcurrency = options.maxConcurrency ?? Number.POSITIVE_INFINITY;
  const now = () => scheduler.now();

  return (items, { concurrency = Number.POSITIVE_INFINITY, size = sizeOf(items), to, by = {} } = {}) =>
    new Observable<BatchItem>((subscriber) => {
      const { id: batch = ids(), onBatch = () => {}, ...requester } = by;
      const client: Client = { ...ANY_CLIENT, ...requester };
      const { apiKeyName, owner } = client;
      let read = 0;
      let done = 0;
      let failed = 0;
      const progress = () => ({ batch, apiKeyName, size: size ?? read, done, failed });

      const complete = (): void => events.conclude(batchCompleted(now(), progress()), to);
      const wanted = Math.max(
        1,
        Math.min(concurrency, maxConcurrency, pipeline.limits.maxConcurrent, size ?? concurrency),
      );
      const reservation = pipeline.admitBatch(wanted, complete, owner);
      onBatch(batch);
      events.emit(batchAccepted(now(), { batch, apiKeyName }, size ?? 0, reservation.width));

      let idleSince = now();
      let idle = Subscription.EMPTY;
      /**
       * Waits until the batch has been idle for `IDLE_MS`. Captures share one timer, because each timer costs 20 µs.
       */
      const awaitIdle = (ms: number): void => {
        idle = timer(ms, scheduler).subscribe(() => {
          const left = idleSince + IDLE_MS - now();
          if (left > 0) awaitIdle(left);
          else if (done === read) reservation.giveBack();
        });
      };
      const beginIdle = (): void => {
        idleSince = now();
        if (idle.closed && !subscriber.closed) awaitIdle(IDLE_MS);
      };
      const atOnce = (): number => Math.min(reservation.width, pipeline.maxPerBatch);
      const readAhead = createReadAhead(atOnce, () => pipeline.maxDials, scheduler);
      const pace = createReadPace({ hasOthers: reservation.hasOthers, scheduler });
      const room$ = readAhead.room$.pipe(switchMap(() => pace.room$));
      const count = ({ outcome }: BatchItem): void => {
        done += 1;
        failed += outcome.state === 'stored' ? 0 : 1;
      };
      const capture = (item: ItemRequest, index: number): Observable<BatchItem> => {
        read += 1;
        pace.read();
        if ('failure' in item) {
          const { url } = item;
          // Emits no event: invalid items cost the client nothing, so there may be any number of them.
          return of<BatchItem>({ index, url, outcome: { state: 'rejected', failure: item.failure } }).pipe(tap(count));
        }
        const { url } = item.target;
        const readItem = readAhead.read();
        return submit(item, { ...client, batch, item: { ...readItem, enter: reservation.enter } }).pipe(
          catchError((thrown: unknown) => of(outcomeOfError(thrown))),
          map((outcome) => ({ index, url, outcome })),
          tap((item) => {
            count(item);
            events.emit(batchProgressed(now(), progress()));
          }),
          finalize(() => {
            readItem.ended();
            beginIdle();
          }),
        );
      };

      beginIdle();
      const subscription = pullMap(items, reservation.width + pipeline.maxDials, capture, room$).subscribe({
        next: (item) => subscriber.next(item),
        error: (error) => subscriber.error(error),
        complete: () => {
          // The batch's last event is emitted before its client receives the end; in all other cases the teardown
          // emits it.
          reservation.release();
          subscriber.complete();
        },
      });
      return () => {
        // First, so that no item begins when another one leaves.
        reservation.release();
        subscription.unsubscribe();
        idle.unsubscribe();
      };
    });
}

function sizeOf(items: ItemSource<ItemRequest>): number | undefined {
  return Array.isArray(items) ? items.length : undefined;
}
