import { catchError, defer, EMPTY, finalize, from, ignoreElements, Observable, of, tap } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import { createFairQueue } from './fair-queue.ts';
import { mergeMapOnDemand } from './merge-map-on-demand.ts';
import { createPlaces } from './share.ts';

interface Work {
  readonly owner: string | null;
  readonly work$: Observable<never>;
}

/**
 * Work of which at most a number runs at once. Owners take turns, and so do the batches of one. `isShared`: an owner
 * that takes long leaves half of the places to others.
 */
export function createWorkInTurn(atOnce: number, isShared = false) {
  const places = createPlaces(() => atOnce, isShared ? undefined : () => true);
  const queue = createFairQueue<Work>((owner) => places.has(owner));
  const inPlace = ({ owner, work$ }: Work) => {
    const leave = places.take(owner);
    return work$.pipe(
      finalize(() => {
        leave?.();
        queue.retry();
      }),
    );
  };
  mergeMapOnDemand(queue.next$, of(atOnce), inPlace).subscribe();
  return {
    get waiting() {
      return queue.length;
    },
    /**
     * Starts the work when it is its turn, emits its result and completes. Cold. Unsubscribing leaves the queue; work
     * that has started holds its slot to its end.
     */
    run: <T>(owner: string | null, work: () => Promise<T>, batch?: string | null) =>
      new Observable<T>((subscriber) => {
        const untilDone = defer(() => from(work())).pipe(
          tap(subscriber),
          ignoreElements(),
          // The subscriber has been told.
          catchError(() => EMPTY),
        );
        return queue.join({ owner, work$: untilDone }, owner, batch);
      }),
  };
}

interface BoundedWorkOptions {
  readonly atOnce: number;
  /** Maximum number of works that wait, of which each owner has a share. */
  readonly maxWaiting: number;
  /** Name of the results in the error text. */
  readonly what: string;
}

/**
 * Value of `Retry-After`, in seconds: many of the waiting thumbnails, and several comparisons, are made in that time.
 */
const RETRY_AFTER_SECONDS = 5;

/**
 * Returns a function that runs work in turns of its owners; its result fails with `queue_full` while too much waits.
 */
export function createBoundedWork({ atOnce, maxWaiting, what }: BoundedWorkOptions) {
  const turns = createWorkInTurn(atOnce);
  const places = createPlaces(() => maxWaiting + atOnce);
  return <T>(owner: string | null, work: () => Promise<T>): Observable<T> =>
    defer(() => {
      const leave = places.take(owner);
      if (leave !== undefined) return turns.run(owner, work).pipe(finalize(leave));
      throw new CapstanError('queue_full', `${places.taken} ${what} are waiting to be made.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    });
}
