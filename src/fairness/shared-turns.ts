import { defer, finalize, type Observable } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import { createPlaces } from './share.ts';
import { createWorkInTurn } from './work-in-turn.ts';

interface SharedTurnsOptions {
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
export function createSharedTurns({ atOnce, maxWaiting, what }: SharedTurnsOptions) {
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
