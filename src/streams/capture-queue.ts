import {
  BehaviorSubject,
  ignoreElements,
  merge,
  type Observable,
  type ObservedValueOf,
  type OperatorFunction,
  tap,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { CapstanError } from '../capture/errors.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { mergeMapOnDemand } from '../fairness/merge-map-on-demand.ts';

/** An admitted capture that waits for a slot. It leaves the queue when the command's signal is aborted. */
export interface Waiting {
  readonly command: Pick<CaptureCommand, 'id' | 'signal'>;
  readonly owner: string | null;
}

/** Where admitted captures wait for a slot: in this process, or in the work queue of a cluster. */
export interface CaptureQueue {
  /**
   * Puts an admitted capture into a queue outside of this process. Rejects with a `CapstanError` when the queue refuses
   * it, and with the reason of the command's signal when that is aborted first. Owners take turns. `isItem`: of a
   * batch, so that it waits for room instead of being refused. The method is undefined when captures wait in this
   * process.
   */
  readonly enqueue?: (command: CaptureCommand, owner: string | null, isItem: boolean) => Promise<void>;
  /** Returns the reason why no capture can be queued now; undefined when one may be queued. */
  readonly refusal?: () => CapstanError | undefined;
  /** Returns an operator that starts the work of each capture when it gets a slot, and merges what the works emit. */
  readonly each: <C extends Waiting, R>(work: (capture: C) => Observable<R>) => OperatorFunction<C, R>;
  setLimit(limit: number): void;
  /**
   * Returns the maximum number of captures of one batch that wait for a slot or run: enough to keep all slots busy.
   * More would wait so long that targets close the open connections. @default No maximum besides the batch's width
   */
  readonly maxPerBatch?: () => number;
}

/**
 * The queue of this process, with `limit` slots. Owners take turns, and the captures of one are first come, first
 * served.
 */
export function createLocalQueue(limit: number): CaptureQueue {
  const limit$ = new BehaviorSubject(limit);
  return {
    each: (work) => (captures$) => {
      const queue = createFairQueue<ObservedValueOf<typeof captures$>>();
      const joined$ = captures$.pipe(
        tap((capture) => {
          const leave = queue.join(capture, capture.owner);
          capture.command.signal.addEventListener('abort', leave, { once: true });
        }),
        ignoreElements(),
      );
      // Their order does not matter: a capture that joins before a slot is free waits in the queue.
      return merge(mergeMapOnDemand(queue.next$, limit$, work), joined$);
    },
    setLimit: (next) => limit$.next(next),
  };
}
