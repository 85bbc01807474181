import { Observable } from 'rxjs';
import { once } from '../capture/basics/once.ts';
import { createFairQueue } from './fair-queue.ts';
import { createPlaces } from './share.ts';

export type Turns = ReturnType<typeof createTurns>;

interface Waiting {
  readonly owner: string | null;
  /** `free`: gives the place back. Idempotent. */
  readonly begin: (free: () => void) => void;
}

/**
 * Work that waits for one of `capacity()` places. `allows` limits the places of one owner, as in `createPlaces`. While
 * no place is free, owners take turns, and so do the batches of one owner.
 */
export function createTurns(capacity: () => number, allows?: (free: number, own: number) => boolean) {
  const places = createPlaces(capacity, allows);
  const queue = createFairQueue<Waiting>((owner) => places.has(owner));
  let isServing = false;

  const serve = (): void => {
    // Work may end while it begins; a loop avoids deep recursion.
    if (isServing) return;
    isServing = true;
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const release = places.take(next.owner);
        next.begin(
          once(() => {
            release?.();
            serve();
          }),
        );
      }
    } finally {
      isServing = false;
    }
  };

  const enter = (owner: string | null, batch: string | null, begin: Waiting['begin']): (() => void) => {
    const leave = queue.join({ owner, begin }, owner, batch);
    serve();
    return leave;
  };

  return {
    get taken() {
      return places.taken;
    },
    get waiting() {
      return queue.length;
    },
    /** Call it when the capacity has grown. */
    retry: serve,
    /** Calls `begin` when it is the owner's turn. Returns a function that ends the wait. */
    enter,
    /** Subscribes to `work$` when it is the owner's turn. The place is free once that ends or is unsubscribed from. */
    during: <T>(owner: string | null, batch: string | null, work$: Observable<T>): Observable<T> =>
      new Observable<T>((subscriber) =>
        enter(owner, batch, (free) => {
          subscriber.add(free);
          work$.subscribe(subscriber);
        }),
      ),
  };
}
