import { EMPTY, NEVER, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/fairness/turns.ts';

/** Enters a work of each owner. Notes the owners of those that have begun, and how to free their places. */
function entering(turns: ReturnType<typeof createTurns>) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const enter = (owner: string) =>
    turns.enter(owner, null, (free) => {
      begun.push(owner);
      ends.push(free);
    });
  return { begun, ends, enter };
}

describe('createTurns', () => {
  it('begins works while there are places, and one for each that is free again', () => {
    const turns = createTurns(
      () => 2,
      () => true,
    );
    const { begun, ends, enter } = entering(turns);
    for (const owner of ['a', 'a', 'a', 'b']) enter(owner);
    expect([begun, turns.taken, turns.waiting]).toEqual([['a', 'a'], 2, 2]);
    ends[0]?.();
    ends[0]?.();
    expect([begun, turns.taken, turns.waiting]).toEqual([['a', 'a', 'a'], 2, 1]);
  });

  it('begins waiting works when it is told that the capacity has grown, but none that has left', () => {
    let capacity = 0;
    const turns = createTurns(() => capacity);
    const { begun, enter } = entering(turns);
    const leave = enter('a');
    for (const owner of ['b', 'c']) enter(owner);
    leave();
    capacity = 8;
    turns.retry();
    expect([begun, turns.taken, turns.waiting]).toEqual([['b', 'c'], 2, 0]);
  });

  it('begins 20,000 works that end as they begin without overflowing the stack', () => {
    const turns = createTurns(() => 1);
    const first = turns.during(null, null, NEVER).subscribe();
    let ended = 0;
    for (let at = 0; at < 20_000; at += 1) turns.during(null, null, EMPTY).subscribe({ complete: () => (ended += 1) });
    expect(ended).toBe(0);
    first.unsubscribe();
    expect([ended, turns.taken]).toEqual([20_000, 0]);
  });

  it('begins further works after one that threw', () => {
    const turns = createTurns(() => 2);
    const { begun, enter } = entering(turns);
    const broken = () => {
      throw new Error('broken');
    };
    expect(() => turns.enter(null, null, broken)).toThrow('broken');
    enter('a');
    expect(begun).toEqual(['a']);
  });

  it('frees the place of a work that is unsubscribed from or fails, and leaves the queue with one that waits', () => {
    const turns = createTurns(() => 1);
    const begun: string[] = [];
    const work = (name: string, ends: Observable<never> = NEVER) =>
      turns.during(
        null,
        null,
        new Observable<never>((subscriber) => {
          begun.push(name);
          return ends.subscribe(subscriber);
        }),
      );
    const first = work('first').subscribe();
    const second = work('second').subscribe();
    work('third', new Observable((subscriber) => subscriber.error(new Error('broken')))).subscribe({ error: () => {} });
    work('fourth').subscribe();
    second.unsubscribe();
    first.unsubscribe();
    expect([begun, turns.taken]).toEqual([['first', 'third', 'fourth'], 1]);
  });
});
