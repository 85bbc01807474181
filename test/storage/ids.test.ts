import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createIdSource,
  firstIdAt,
  LEASED_NODES,
  NODES,
  parseId,
  randomNode,
  timeOfId,
} from '../../src/storage/records/ids.ts';

const NOW = Date.UTC(2026, 6, 1, 12, 30, 15, 250);

describe('the id source', () => {
  it('returns growing ids without repetition, however the clock jumps and the node changes', () => {
    const step = fc.oneof(fc.constant(0), fc.integer({ min: -5000, max: 5000 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.option(fc.integer({ min: 0, max: 63 }))), { maxLength: 300 }), (steps) => {
        let now = NOW;
        const ids = createIdSource({ clock: () => now, node: 63 });
        let last = 0;
        for (const [ms, node] of steps) {
          now += ms;
          if (node !== null) ids.setNode(node);
          const id = ids.next();
          expect(id).toBeGreaterThan(last);
          expect(Number.isSafeInteger(id)).toBe(true);
          last = id;
        }
      }),
    );
  });

  it('runs ahead by 1 ms per 64 ids while the clock stands still', () => {
    const ids = createIdSource({ clock: () => NOW, node: 1 });
    const made = Array.from({ length: 65 }, () => ids.next());
    expect(new Set(made).size).toBe(65);
    expect(made.slice(0, 64).every((id) => timeOfId(id).getTime() === NOW)).toBe(true);
    expect(timeOfId(made[64] ?? 0).getTime()).toBe(NOW + 1);
  });

  it('returns different ids for different nodes', () => {
    const one = createIdSource({ clock: () => NOW, node: 1 });
    const other = createIdSource({ clock: () => NOW, node: 2 });
    const made = Array.from({ length: 500 }, () => [one.next(), other.next()]).flat();
    expect(new Set(made).size).toBe(1000);
  });

  it('puts the time into an id to the millisecond, never below the first id of that time', () => {
    const id = createIdSource({ clock: () => NOW, node: 0 }).next();
    expect(timeOfId(id)).toEqual(new Date(NOW));
    expect(firstIdAt(new Date(NOW))).toBeLessThanOrEqual(id);
    expect(firstIdAt(new Date(NOW + 1))).toBeGreaterThan(id);
  });

  it('returns safe integers until 2093', () => {
    const id = createIdSource({ clock: () => Date.UTC(2093, 0, 1), node: 63 }).next();
    expect(id).toBeLessThan(2 ** 53);
  });

  it('parses canonical digits only', () => {
    expect(parseId('1')).toBe(1);
    expect(parseId('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    const wrong = ['', '0', '01', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '0x1', '9007199254740992', '99999999999999999'];
    for (const text of wrong) expect(parseId(text), text).toBeUndefined();
  });

  it('chooses random nodes only outside the range of leased nodes', () => {
    expect(randomNode(() => 0)).toBe(LEASED_NODES);
    expect(randomNode(() => 0.999_999)).toBe(NODES - 1);
  });

  it('refuses a node that is out of range', () => {
    expect(() => createIdSource({ clock: () => NOW, node: 64 })).toThrow(
      'node is 64; it takes an integer from 0 to 63',
    );
  });
});
