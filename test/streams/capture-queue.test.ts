import { concatMap, defer, EMPTY, mergeMap, Observable, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLocalQueue, type Waiting } from '../../src/streams/capture-queue.ts';
import { virtually } from './rig.ts';

describe('queue within a process', () => {
  it('runs at most its limit at once, and the others in the order in which they arrived', () => {
    virtually(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = limited(2);
      const a = cold('  ---a|');
      const b = cold('  -----b|');
      const c = cold('  --c|');
      const d = cold('  -d|');
      const out$ = of(a, b, c, d).pipe(mergeMap((source) => source.pipe(limiter.through)));

      expectObservable(out$).toBe('---a-bcd|');
      expectSubscriptions(a.subscriptions).toBe('^---!');
      expectSubscriptions(b.subscriptions).toBe('^-----!');
      expectSubscriptions(c.subscriptions).toBe('----^--!');
      expectSubscriptions(d.subscriptions).toBe('------^-!');
    });
  });

  it('removes a waiting subscriber that unsubscribes from the queue at once', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }) => {
      const limiter = limited(1);
      const a = cold('----|');
      const b = cold('----|');
      const c = cold('--|');
      expectObservable(a.pipe(limiter.through)).toBe('----|');
      expectObservable(b.pipe(limiter.through), '^-!').toBe('---');
      expectObservable(c.pipe(limiter.through)).toBe('------|');
      expectSubscriptions(b.subscriptions).toBe([]);
      expectSubscriptions(c.subscriptions).toBe('----^-!');
    });
  });

  it('gives the slot of a running subscriber that unsubscribes to the next', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }) => {
      const limiter = limited(1);
      const a = cold('--------|');
      const b = cold('--|');
      expectObservable(a.pipe(limiter.through), '^--!').toBe('----');
      expectObservable(b.pipe(limiter.through)).toBe('-----|');
      expectSubscriptions(a.subscriptions).toBe('^--!');
      expectSubscriptions(b.subscriptions).toBe('---^-!');
    });
  });

  it('frees the slot of a source that errors, and passes the error to its own subscriber only', () => {
    virtually(({ cold, expectObservable }) => {
      const limiter = limited(1);
      expectObservable(cold('--#').pipe(limiter.through)).toBe('--#');
      expectObservable(cold('--b|').pipe(limiter.through)).toBe('----b|');
    });
  });

  it('starts waiting sources when the limit is raised', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }, time) => {
      const limiter = limited(1);
      const sources = Array.from({ length: 4 }, () => cold('------|'));
      for (const source of sources) {
        expectObservable(source.pipe(limiter.through));
      }
      time.schedule(() => limiter.queue.setLimit(3), 2);
      const [a, b, c, d] = sources.map((source) => source.subscriptions);
      expectSubscriptions(a ?? []).toBe('^-----!');
      expectSubscriptions(b ?? []).toBe('--^-----!');
      expectSubscriptions(c ?? []).toBe('--^-----!');
      expectSubscriptions(d ?? []).toBe('------^-----!');
    });
  });

  it('keeps running sources when the limit is lowered, and starts none until their number is below it', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }, time) => {
      const limiter = limited(2);
      const a = cold('----|');
      const b = cold('------|');
      const c = cold('--|');
      for (const source of [a, b, c]) {
        expectObservable(source.pipe(limiter.through));
      }
      time.schedule(() => limiter.queue.setLimit(1), 1);
      expectSubscriptions(a.subscriptions).toBe('^---!');
      expectSubscriptions(b.subscriptions).toBe('^-----!');
      expectSubscriptions(c.subscriptions).toBe('------^-!');
    });
  });

  it('starts the next source before it delivers completion or an error', () => {
    const limiter = limited(1);
    const log: string[] = [];
    const hear = (name: string, source: Observable<never>) =>
      defer(() => {
        log.push(`${name} starts`);
        return source;
      })
        .pipe(limiter.through)
        .subscribe({ complete: () => log.push(`${name} ended`), error: () => log.push(`${name} failed`) });
    const first$ = new Subject<never>();
    const second$ = new Subject<never>();
    hear('first', first$);
    hear('second', second$);
    hear('third', EMPTY);
    first$.complete();
    second$.error(new Error('broken'));
    expect(log).toEqual([
      'first starts',
      'second starts',
      'first ended',
      'third starts',
      'third ended',
      'second failed',
    ]);
  });

  it('processes a queue of 20,000 sources that end as they start without overflowing the stack', () => {
    virtually(({ cold, flush }) => {
      const limiter = limited(1);
      let ended = 0;
      cold('-|').pipe(limiter.through).subscribe();
      for (let i = 0; i < 20_000; i++) {
        EMPTY.pipe(limiter.through).subscribe({ complete: () => ended++ });
      }
      expect(ended).toBe(0);
      flush();
      expect(ended).toBe(20_000);
    });
  });

  it('lets a source that starts submit another one', () => {
    const limiter = limited(1);
    const out: string[] = [];
    of('outer')
      .pipe(
        concatMap((name) => {
          of('inner')
            .pipe(limiter.through)
            .subscribe((inner) => out.push(inner));
          return of(name);
        }),
        limiter.through,
      )
      .subscribe((outer) => out.push(outer));
    expect(out).toEqual(['outer', 'inner']);
  });
});

/** A queue, and an operator that subscribes to its source when it is the source's turn. */
function limited(limit: number) {
  const queue = createLocalQueue(limit);
  const submitted$ = new Subject<Waiting & { readonly work$: Observable<never> }>();
  submitted$.pipe(queue.each(({ work$ }) => work$)).subscribe();
  let id = 0;
  const through = <T>(source: Observable<T>): Observable<T> =>
    new Observable<T>((subscriber) => {
      const leaving = new AbortController();
      const work$ = new Observable<never>((place) => {
        const work = source.subscribe({
          next: (value) => subscriber.next(value),
          error: (error) => {
            place.complete();
            subscriber.error(error);
          },
          complete: () => {
            place.complete();
            subscriber.complete();
          },
        });
        subscriber.add(work);
        subscriber.add(() => place.complete());
      });
      submitted$.next({ command: { id: ++id, signal: leaving.signal }, owner: null, work$ });
      return () => leaving.abort();
    });
  return { queue, through };
}
