import { concatMap, EMPTY, mergeMap, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/streams/limiter.ts';
import { virtually } from './rig.ts';

describe('limiter', () => {
  it('runs at most its limit at once, and the others in the order in which they arrived', () => {
    virtually(({ cold, expectObservable, expectSubscriptions }) => {
      const limiter = createLimiter(2);
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
    virtually(({ cold, expectSubscriptions, expectObservable }, time) => {
      const limiter = createLimiter(1);
      const a = cold('----|');
      const b = cold('----|');
      const c = cold('--|');
      expectObservable(a.pipe(limiter.through)).toBe('----|');
      expectObservable(b.pipe(limiter.through), '^-!').toBe('---');
      expectObservable(c.pipe(limiter.through)).toBe('------|');
      time.schedule(() => expect(limiter.waiting).toBe(2), 1);
      time.schedule(() => expect(limiter.waiting).toBe(1), 3);
      expectSubscriptions(b.subscriptions).toBe([]);
      expectSubscriptions(c.subscriptions).toBe('----^-!');
    });
  });

  it('gives the slot of a running subscriber that unsubscribes to the next', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }) => {
      const limiter = createLimiter(1);
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
      const limiter = createLimiter(1);
      expectObservable(cold('--#').pipe(limiter.through)).toBe('--#');
      expectObservable(cold('--b|').pipe(limiter.through)).toBe('----b|');
    });
  });

  it('starts waiting sources when the limit is raised', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }, time) => {
      const limiter = createLimiter(1);
      const sources = Array.from({ length: 4 }, () => cold('------|'));
      for (const source of sources) {
        expectObservable(source.pipe(limiter.through));
      }
      time.schedule(() => limiter.setLimit(3), 2);
      const [a, b, c, d] = sources.map((source) => source.subscriptions);
      expectSubscriptions(a ?? []).toBe('^-----!');
      expectSubscriptions(b ?? []).toBe('--^-----!');
      expectSubscriptions(c ?? []).toBe('--^-----!');
      expectSubscriptions(d ?? []).toBe('------^-----!');
    });
  });

  it('keeps running sources when the limit is lowered, and starts none until their number is below it', () => {
    virtually(({ cold, expectSubscriptions, expectObservable }, time) => {
      const limiter = createLimiter(2);
      const a = cold('----|');
      const b = cold('------|');
      const c = cold('--|');
      for (const source of [a, b, c]) {
        expectObservable(source.pipe(limiter.through));
      }
      time.schedule(() => limiter.setLimit(1), 1);
      expectSubscriptions(a.subscriptions).toBe('^---!');
      expectSubscriptions(b.subscriptions).toBe('^-----!');
      expectSubscriptions(c.subscriptions).toBe('------^-!');
    });
  });

  it('frees the slot before it delivers completion or an error', () => {
    const limiter = createLimiter(1);
    const running: number[] = [];
    const hear = (source: Observable<never>) =>
      source.pipe(limiter.through).subscribe({
        complete: () => running.push(limiter.running),
        error: () => running.push(limiter.running),
      });
    hear(EMPTY);
    hear(throwError(() => new Error('broken')));
    expect(running).toEqual([0, 0]);
  });

  it('processes a queue of 100,000 sources that end as they start without overflowing the stack', () => {
    virtually(({ cold, flush }) => {
      const limiter = createLimiter(1);
      let ended = 0;
      cold('-|').pipe(limiter.through).subscribe();
      for (let i = 0; i < 100_000; i++) {
        EMPTY.pipe(limiter.through).subscribe({ complete: () => ended++ });
      }
      expect(limiter.waiting).toBe(100_000);
      flush();
      expect([ended, limiter.running, limiter.waiting]).toEqual([100_000, 0, 0]);
    });
  });

  it('lets a source that starts submit another one', () => {
    const limiter = createLimiter(1);
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

  it('refuses an invalid limit and names it', () => {
    expect(() => createLimiter(0)).toThrow('The limit must be an integer of 1 or more, not 0.');
    expect(() => createLimiter(1).setLimit(1.5)).toThrow('not 1.5.');
  });
});
