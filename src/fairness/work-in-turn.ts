import { catchError, defer, EMPTY, finalize, Observable, tap } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import { createPlaces } from './share.ts';
import { createTurns } from './turns.ts';

/**
 * Runs at most `atOnce` works at a time. Owners take turns, and so do the batches of one owner. `limitsOwners`: one whose
 * works take long leaves half of the places to others.
 */
export function createWorkInTurn(atOnce: number, limitsOwners = false) {
  const turns = createTurns(() => atOnce, limitsOwners ? undefined : () => true);
  return {
    get waiting() {
      return turns.waiting;
    },
    /**
     * Starts the work when it is its turn, emits its result and completes. Cold. Unsubscribing leaves the queue; work
     * that has started holds its slot to its end.
     */
    run: <T>(owner: string | null, work: () => Promise<T>, batch: string | null = null) =>
      new Observable<T>((subscriber) =>
        turns.enter(owner, batch, (free) => {
          // The subscriber is told of an error.
          const untilDone$ = defer(work).pipe(
            tap(subscriber),
            catchError(() => EMPTY),
            finalize(free),
          );
          untilDone$.subscribe();
        }),
      ),
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
