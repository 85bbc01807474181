import { BehaviorSubject, type Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/fairness/fair-queue.ts';
import { mergeMapOnDemand } from '../../src/fairness/merge-map-on-demand.ts';

/** Works that run until they are ended, over a queue that is never exhausted. */
function running(limit: number, onStart: (element: number) => void = () => {}) {
  const queue = createFairQueue<number>();
  const limit$ = new BehaviorSubject(limit);
  const works = new Map<number, Subject<never>>();
  const project = (element: number): Observable<never> => {
    const work = new Subject<never>();
    works.set(element, work);
    onStart(element);
    return work;
  };
  const subscription = mergeMapOnDemand(queue.next$, limit$, project).subscribe();
  return {
    queue,
    limit$,
    works,
    subscription,
    add: (...elements: number[]) => {
      for (const element of elements) queue.join(element, null);
    },
    end: (element: number) => {
      works.get(element)?.complete();
      works.delete(element);
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('mergeMapOnDemand', () => {
  it('takes no element before there is a place for it', () => {
    const { queue, works, add, end } = running(2);
    add(0, 1, 2, 3);
    expect([[...works.keys()], queue.length]).toEqual([[0, 1], 2]);
    end(1);
    expect([[...works.keys()], queue.length]).toEqual([[0, 2], 1]);
  });

  it('starts one element for each place when the limit is raised again and again, also while nothing waits', () => {
    const { limit$, works, add } = running(1);
    limit$.next(2);
    limit$.next(3);
    add(...upTo(10));
    expect(works.size).toBe(3);
    limit$.next(5);
    expect(works.size).toBe(5);
  });

  it('restarts nothing when the limit is lowered from 5,000 to 1, and starts the next one when all others have ended', () => {
    const starts: number[] = [];
    const { limit$, works, add, end } = running(5_000, (element) => starts.push(element));
    add(...upTo(5_001));
    expect(works.size).toBe(5_000);
    limit$.next(1);
    for (const element of upTo(4_999).reverse()) end(element);
    expect([[...works.keys()], starts.length]).toEqual([[4_999], 5_000]);
    end(4_999);
    expect([...works.keys()]).toEqual([5_000]);
  });

  it('keeps to a limit that is changed while a work starts', () => {
    const { limit$, works, add, end } = running(4, (element) => {
      if (element === 1) limit$.next(2);
      if (element === 4) limit$.next(3);
    });
    add(...upTo(10));
    expect([...works.keys()]).toEqual([0, 1]);
    end(0);
    expect([...works.keys()]).toEqual([1, 2]);
    end(1);
    end(2);
    expect([...works.keys()]).toEqual([3, 4, 5]);
  });

  it('never runs more works than the limit in any order of arrivals, ends, departures and limits', () => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let run = 0; run < 200; run += 1) {
      const started: number[] = [];
      const { queue, limit$, works, end } = running(1 + random(4), (element) => started.push(element));
      const leavers: (() => void)[] = [];
      let most = limit$.value;
      for (let step = 0; step < 100; step += 1) {
        const before = new Set(works.keys());
        const act = random(5);
        if (act < 2) leavers.push(queue.join(step, String(random(3))));
        else if (act === 2) leavers[random(leavers.length || 1)]?.();
        else if (act === 3) end([...works.keys()][random(works.size || 1)] ?? -1);
        else {
          most = 1 + random(4);
          limit$.next(most);
        }
        const begun = [...works.keys()].filter((element) => !before.has(element));
        if (begun.length > 0) expect(works.size).toBeLessThanOrEqual(most);
        // No place stays free while an element waits.
        if (queue.length > 0) expect(works.size).toBeGreaterThanOrEqual(most);
      }
      expect(new Set(started).size).toBe(started.length);
    }
  });

  it('unsubscribes from all works when it is unsubscribed from', () => {
    const { works, add, subscription } = running(2);
    add(0, 1);
    subscription.unsubscribe();
    expect([...works.values()].map((work) => work.observed)).toEqual([false, false]);
  });
});
