import { EMPTY, mergeMap, Observable, queueScheduler, Subject, subscribeOn, switchMap, take } from 'rxjs';

/**
 * `mergeMap` with a concurrency, over a source that waits for demand. `mergeMap` does not run elements but asks. When
 * `mergeMap` has a place, it starts an ask. The ask takes the next element, runs its work, and is followed by the next
 * ask. So an element is taken only when there is a place for it, and `mergeMap`'s buffer holds one ask, never an
 * element.
 *
 * `next$` emits one step of an iterator as soon as there is one. `limit$` is the concurrency, an integer of at least 1;
 * after it was lowered, nothing starts until enough works have ended. A work holds its place until it completes. An
 * error of the source or of a work ends the result and unsubscribes from all works.
 */
export function mergeMapOnDemand<T, R>(
  next$: Observable<IteratorResult<T>>,
  limit$: Observable<number>,
  project: (element: T, index: number) => Observable<R>,
): Observable<R> {
  return new Observable<R>((subscriber) => {
    /** The ends of the works that run. */
    const ends = new Set<Subject<never>>();
    let index = 0;

    const begin = (element: T): Observable<never> => {
      const end$ = new Subject<never>();
      ends.add(end$);
      const work = project(element, index++).subscribe({
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

    const placesOf = (limit: number): Observable<never> =>
      new Observable((places) => {
        const asks$ = new Subject<Observable<never>>();
        const ask$: Observable<never> = next$.pipe(
          take(1),
          mergeMap((step) => {
            if (step.done) {
              asks$.complete();
              return EMPTY;
            }
            const end$ = begin(step.value);
            asks$.next(ask$);
            return end$;
          }),
          // A loop in place of recursion: any number of works may end as they start.
          subscribeOn(queueScheduler),
        );
        asks$.pipe(mergeMap((ask) => ask, limit)).subscribe(places);
        // The works that have begun take their places first.
        for (const end$ of [...ends]) asks$.next(end$.pipe(subscribeOn(queueScheduler)));
        asks$.next(ask$);
      });

    // A new limit is a new mergeMap, because its concurrency cannot change.
    limit$.pipe(switchMap(placesOf)).subscribe(subscriber);
  });
}
