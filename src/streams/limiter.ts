import { Observable, type Subscription } from 'rxjs';
import { createFairQueue } from './fair-queue.ts';

/** Limits the number of sources that run concurrently. */
export interface Limiter {
  /** Maximum number of concurrent sources. */
  readonly limit: number;
  readonly running: number;
  readonly waiting: number;

  /**
   * An operator that subscribes to its source when a slot is free. Owners take turns; the sources of one owner start
   * in the order of subscription. A waiting subscriber that unsubscribes leaves the queue at once; a running one frees
   * its slot after its source was torn down. The slot is
   * free by the time completion or an error is delivered.
   */
  readonly through: <T>(source: Observable<T>) => Observable<T>;

  /** `through` for sources of an owner. The sources of `through` itself count as one more owner. */
  readonly throughFor: (owner: string | null) => <T>(source: Observable<T>) => Observable<T>;

  /**
   * Sets the limit. Raising it starts waiting sources. After lowering it, running sources continue, and none starts
   * until their number is below the limit.
   */
  setLimit(limit: number): void;
}

/** Used in place of `mergeMap`, which keeps cancelled work in its buffer and cannot change its concurrency. */
export function createLimiter(limit: number): Limiter {
  let most = checked(limit);
  let running = 0;
  let starting = false;
  const line = createFairQueue<() => void>();

  // A loop instead of recursion: a source that completes synchronously would start the next one from within itself, and
  // a long queue of them would overflow the stack.
  const startWaiting = (): void => {
    if (starting) {
      return;
    }
    starting = true;
    while (running < most) {
      const start = line.shift();
      if (start === undefined) {
        break;
      }
      start();
    }
    starting = false;
  };

  const throughFor: Limiter['throughFor'] =
    (owner) =>
    <T>(source: Observable<T>): Observable<T> =>
      new Observable<T>((subscriber) => {
        let inner: Subscription | undefined;
        let holding = false;

        const free = (): void => {
          if (holding) {
            holding = false;
            running -= 1;
            startWaiting();
          }
        };
        const leave = line.join(() => {
          holding = true;
          running += 1;
          inner = source.subscribe({
            next: (value) => subscriber.next(value),
            error: (error) => {
              free();
              subscriber.error(error);
            },
            complete: () => {
              free();
              subscriber.complete();
            },
          });
        }, owner);
        startWaiting();

        return () => {
          leave();
          inner?.unsubscribe();
          free();
        };
      });

  return {
    get limit() {
      return most;
    },
    get running() {
      return running;
    },
    get waiting() {
      return line.length;
    },
    through: throughFor(null),
    throughFor,
    setLimit(next) {
      most = checked(next);
      startWaiting();
    },
  };
}

function checked(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError(`The limit must be an integer of 1 or more, not ${limit}.`);
  }
  return limit;
}
