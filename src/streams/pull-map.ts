import { isObservable, mergeMap, Observable } from 'rxjs';

/** A source of elements. Iterables are read on demand; an Observable pushes, and is buffered. */
export type ElementSource<T> = Iterable<T> | AsyncIterable<T> | Observable<T>;

/**
 * Like `mergeMap` with a concurrency, for sources that can wait: the next element is read only when there is a free
 * place for it, one at a time, so that memory does not grow with the source and back-pressure reaches the sender.
 * (`mergeMap` reads an iterable to its end into a buffer.) An error of the source ends the result at once and
 * unsubscribes from running work. Unsubscribing returns the iterator.
 */
export function pullMap<T, R>(
  source: ElementSource<T>,
  concurrency: number,
  project: (element: T, index: number) => Observable<R>,
): Observable<R> {
  return isObservable(source) ? source.pipe(mergeMap(project, concurrency)) : pulled(source, concurrency, project);
}

function pulled<T, R>(
  source: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  project: (element: T, index: number) => Observable<R>,
): Observable<R> {
  return new Observable<R>((subscriber) => {
    const iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let index = 0;
    let active = 0;
    let reading = false;
    let exhausted = false;
    let pumping = false;

    const fail = (error: unknown): void => {
      // An iterator that threw has ended and must not be returned.
      exhausted = true;
      subscriber.error(error);
    };
    const begin = (step: IteratorResult<T>): void => {
      if (step.done) {
        exhausted = true;
        return;
      }
      active += 1;
      subscriber.add(
        project(step.value, index++).subscribe({
          next: (value) => subscriber.next(value),
          error: fail,
          complete: () => {
            active -= 1;
            pump();
          },
        }),
      );
    };
    const read = (): void => {
      const step = iterator.next();
      if (!('then' in step)) {
        begin(step);
        return;
      }
      reading = true;
      step.then((arrived) => {
        reading = false;
        if (!subscriber.closed) {
          begin(arrived);
          pump();
        }
      }, fail);
    };
    // A loop instead of recursion: any number of elements may complete synchronously.
    const pump = (): void => {
      if (pumping) {
        return;
      }
      pumping = true;
      try {
        while (!exhausted && !reading && active < concurrency && !subscriber.closed) {
          read();
        }
      } catch (error) {
        fail(error);
      }
      pumping = false;
      if (exhausted && active === 0) {
        subscriber.complete();
      }
    };
    subscriber.add(() => {
      if (!exhausted) {
        exhausted = true;
        // Errors while the source is returned are ignored: it may be waiting for a client that has disconnected.
        Promise.resolve(iterator.return?.()).catch(() => undefined);
      }
    });
    pump();
  });
}
