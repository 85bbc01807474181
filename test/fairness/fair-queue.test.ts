import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/fairness/fair-queue.ts';

describe('the fair queue', () => {
  it('lets owners take turns, each first in, first out', () => {
    const queue = createFairQueue<string>();
    for (const name of ['a1', 'a2', 'a3']) queue.join(name, 'a');
    queue.join('b1', 'b');
    queue.join('n1', null);
    queue.join('b2', 'b');
    expect(queue.length).toBe(6);
    expect(Array.from({ length: 7 }, () => queue.shift())).toEqual(['a1', 'b1', 'n1', 'a2', 'b2', 'a3', undefined]);
    expect(queue.length).toBe(0);
  });

  it('lets the batches of an owner take turns with each other and with its other entries', () => {
    const queue = createFairQueue<string>();
    for (const name of ['a1', 'a2', 'a3']) queue.join(name, 'owner', 'a');
    for (const name of ['b1', 'b2']) queue.join(name, 'owner', 'b');
    const leave = queue.join('left', 'owner', 'c');
    queue.join('single', 'owner');
    queue.join('other', 'other');
    leave();
    const served = Array.from({ length: 8 }, () => queue.shift());
    expect(served).toEqual(['a1', 'other', 'b1', 'single', 'a2', 'b2', 'a3', undefined]);
  });

  it('forgets entries that leave, and their owner with the last one', () => {
    const queue = createFairQueue<string>();
    const leave = queue.join('a1', 'a');
    queue.join('b1', 'b');
    leave();
    leave();
    expect(queue.length).toBe(1);
    queue.join('a2', 'a');
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual(['b1', 'a2', undefined]);
  });
});
