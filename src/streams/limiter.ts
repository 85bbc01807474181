import { Observable, type Subscription } from 'rxjs';
import { createWaitingQueue } from './waiting-queue.ts';

/** Holds the number of sources that run at once. */
export interface Limiter {
  /** The most sources that may run at once. */
  readonly limit: number;
  readonly running: number;
  readonly waiting: number;

  /**
   * An operator: the source is subscribed to when its turn comes, first come first served. A waiting subscriber that
   * unsubscribes leaves the line at once; a running one frees its slot after the source was torn down. The slot is
   * free by the time completion or error is heard.
   */
  readonly through: <T>(source: Observable<T>) => Observable<T>;

  /** Raised: waiting sources start. Lowered: what runs goes on, and nothing starts until it is below. */
  setLimit(limit: number): void;
}

/**
 * Not `mergeMap` with a concurrency: that keeps in its buffer what was cancelled while it waited, and its concurrency
 * cannot change.
 */
export function createLimiter(limit: number): Limiter {
  let most = checked(limit);
  let running = 0;
  let starting = false;
  const line = createWaitingQueue<() => void>();

  // A loop, not a recursion: a source that ends while it is subscribed to would otherwise start the next one from
  // within itself, and a long line of such overflow the stack.
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

  const through = <T>(source: Observable<T>): Observable<T> =>
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
      });
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
    through,
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
