import { Observable, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pullMap } from '../../src/streams/pull-map.ts';
import { handedOut, virtually } from './rig.ts';

describe('pullMap', () => {
  it('reads an iterable only as far as it has free places', () => {
    virtually(({ cold, flush }, scheduler) => {
      const read: string[] = [];
      function* items() {
        for (let i = 1; i <= 4; i++) {
          read.push(`${scheduler.now()}: ${i}`);
          yield i;
        }
      }
      pullMap(items(), 2, () => cold('5ms |')).subscribe();
      flush();
      expect(read).toEqual(['0: 1', '0: 2', '5: 3', '5: 4']);
    });
  });

  it('reads an async iterable one item at a time, only as far as it has free places', async () => {
    const source = handedOut<number>();
    const begun: Subject<string>[] = [];
    const items: string[] = [];
    let completed = false;
    pullMap(source.items, 2, () => {
      const work = new Subject<string>();
      begun.push(work);
      return work;
    }).subscribe({
      next: (item) => items.push(item),
      complete: () => {
        completed = true;
      },
    });
    expect(source.asked).toBe(1);
    await source.hand(1);
    expect(source.asked).toBe(2);
    await source.hand(2);
    expect([begun.length, source.asked]).toEqual([2, 2]);
    begun[1]?.next('second');
    begun[1]?.complete();
    expect(source.asked).toBe(3);
    begun[0]?.complete();
    expect(source.asked).toBe(3);
    await source.end();
    expect([items, completed]).toEqual([['second'], true]);
  });

  it('processes 20,000 items that end as they start without overflowing the stack', () => {
    let sum = 0;
    pullMap(
      {
        *[Symbol.iterator]() {
          for (let i = 0; i < 20_000; i++) yield i;
        },
      },
      3,
      (i) => of(i),
    ).subscribe((i) => {
      sum += i;
    });
    expect(sum).toBe((20_000 * 19_999) / 2);
  });

  it('returns the iterator when it is unsubscribed from, and unsubscribes from running work', () => {
    const said: string[] = [];
    function* items() {
      try {
        yield 1;
        yield 2;
        yield 3;
      } finally {
        said.push('returned');
      }
    }
    const work = new Observable<never>(() => () => said.push('unsubscribed'));
    pullMap(items(), 2, () => work)
      .subscribe()
      .unsubscribe();
    expect(said.sort()).toEqual(['returned', 'unsubscribed', 'unsubscribed']);
  });

  it('ends with the error of its source, sync or async, and unsubscribes from running work', async () => {
    const sources: (Iterable<number> | AsyncIterable<number>)[] = [
      (function* () {
        yield 1;
        throw new Error('source');
      })(),
      (async function* () {
        yield 1;
        throw new Error('source');
      })(),
    ];
    for (const source of sources) {
      let torn = false;
      const work = new Observable<never>(() => () => {
        torn = true;
      });
      const error = await new Promise((resolve) => {
        pullMap(source, 2, () => work).subscribe({ error: resolve });
      });
      expect(error).toEqual(new Error('source'));
      expect(torn).toBe(true);
    }
  });
});
