import { catchError, defer, EMPTY, from, ignoreElements, Observable, of, tap } from 'rxjs';
import { createFairQueue } from './fair-queue.ts';
import { mergeMapOnDemand } from './merge-map-on-demand.ts';

/** Work of which at most a number runs at once. Owners take turns, and so do the batches of one. */
export function createWorkInTurn(atOnce: number) {
  const queue = createFairQueue<Observable<never>>();
  mergeMapOnDemand(queue.next$, of(atOnce), (work) => work).subscribe();
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
        return queue.join(untilDone, owner, batch);
      }),
  };
}
