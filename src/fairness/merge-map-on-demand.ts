import { EMPTY, mergeMap, Observable, queueScheduler, Subject, subscribeOn, switchMap, take } from 'rxjs';

/**
 * Like `mergeMap` with a concurrency, but takes an item from the source only when a slot is free. For this, `mergeMap`
 * gets slot requests in place of items: a slot request that gets a slot takes the next item, starts its work, and adds
 * the next slot request. So the buffer of `mergeMap` holds a slot request, never an item.
 *
 * `next$` emits one step of an iterator as soon as there is one. `limit$` is the concurrency, an integer of at least 1;
 * after it was lowered, nothing starts until enough works have ended. A work holds its slot until it completes. An
 * error of the source or of a work ends the result and unsubscribes from all works.
 */
export function mergeMapOnDemand<T, R>(
  next$: Observable<IteratorResult<T>>,
  limit$: Observable<number>,
  project: (item: T, index: number) => Observable<R>,
): Observable<R> {
  return new Observable<R>((subscriber) => {
    /** The ends of the works that run. */
    const ends = new Set<Subject<never>>();
    let index = 0;

    const begin = (item: T): Observable<never> => {
      const end$ = new Subject<never>();
      ends.add(end$);
      const work = project(item, index++).subscribe({
        next: (value) => subscriber.next(value),
        error: (error) => subscriber.error(error),
        complete: () => {
          ends.delete(end$);
          end$.complete();
        },
      });
      subscriber.add(work);
      return end$;
    };

    const runAtMost = (limit: number): Observable<never> =>
      new Observable((slots) => {
        const slotRequests$ = new Subject<Observable<never>>();
        const slotRequest$: Observable<never> = next$.pipe(
          take(1),
          mergeMap((step) => {
            if (step.done) {
              slotRequests$.complete();
              return EMPTY;
            }
            const end$ = begin(step.value);
            slotRequests$.next(slotRequest$);
            return end$;
          }),
          // A loop in place of recursion: any number of works may end as they start.
          subscribeOn(queueScheduler),
        );
        slotRequests$.pipe(mergeMap((slotRequest$) => slotRequest$, limit)).subscribe(slots);
        // The works that have begun take their slots first.
        for (const end$ of [...ends]) slotRequests$.next(end$.pipe(subscribeOn(queueScheduler)));
        slotRequests$.next(slotRequest$);
      });

    // A new limit is a new mergeMap, because its concurrency cannot change.
    limit$.pipe(switchMap(runAtMost)).subscribe(subscriber);
  });
}
