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
 * As many places as `capacity` returns, of which an owner takes those that `allows` leaves it, as `createPlaces` says.
 * While none is free, owners take turns, and so do the batches of one.
 */
export function createTurns(capacity: () => number, allows?: (free: number, own: number) => boolean) {
  const places = createPlaces(capacity, allows);
  const queue = createFairQueue<Waiting>((owner) => places.has(owner));
  let isServing = false;

  const serve = (): void => {
    // A loop in place of recursion: any number of works may end as they begin.
    if (isServing) return;
    isServing = true;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const release = places.take(next.owner);
      next.begin(
        once(() => {
          release?.();
          serve();
        }),
      );
    }
    isServing = false;
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
