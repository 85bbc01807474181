import { from, Observable, of, switchMap, take, tap } from 'rxjs';
import { mergeMapOnDemand } from '../fairness/merge-map-on-demand.ts';

/** A source of items that are read on demand. */
export type ItemSource<T> = Iterable<T> | AsyncIterable<T>;

/**
 * Like `mergeMap` with a concurrency, for sources that can wait: the next item is read only when there is a free
 * slot for it, one at a time, so that memory does not grow with the source and back-pressure reaches the sender.
 * (`mergeMap` reads an iterable to its end into a buffer.) An error of the source ends the result at once and
 * unsubscribes from running work. Unsubscribing returns the iterator. `room$`: emits when a further item may be
 * read.
 */
export function pullMap<T, R>(
  source: ItemSource<T>,
  concurrency: number,
  project: (item: T, index: number) => Observable<R>,
  room$: Observable<unknown> = of(null),
): Observable<R> {
  return new Observable<R>((subscriber) => {
    const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    // An iterator that threw or is done must not be returned.
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    const next$ = room$.pipe(
      take(1),
      switchMap((): Observable<IteratorResult<T>> => {
        const step = iterator.next();
        return 'then' in step ? from(step) : of(step);
      }),
      tap({ next: ({ done }) => done && end(), error: end }),
    );
    mergeMapOnDemand(next$, of(concurrency), project).subscribe(subscriber);
    // Errors while the source is returned are ignored: it may be waiting for a client that has disconnected.
    subscriber.add(() => hasEnded || Promise.resolve(iterator.return?.()).catch(() => undefined));
  });
}
