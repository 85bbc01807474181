import { describe, expect, it } from 'vitest';
import { dueAfterChange, nextDue, type Timing } from '../../src/watches/next-due.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const at = (text: string) => Date.parse(text);

/** Returns when a watch is due, as often as `count`, each time as soon as it was due before. */
function dues(timing: Timing, from: number, count: number, id = 1): number[] {
  const found: number[] = [];
  for (let now = from; found.length < count; ) {
    const due = nextDue(id, timing, now);
    if (due === null) break;
    found.push(due);
    now = due;
  }
  return found;
}

const texts = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(5, 16));

describe('the next run of a watch', () => {
  describe('with every', () => {
    const timing = { every: 10 * MINUTE_MS };

    it('is regular, and at least half an interval after the first', () => {
      for (let id = 1; id <= 200; id += 1) {
        const now = at('2026-05-01T12:00:00Z');
        const times = dues(timing, now, 5, id);
        const gaps = times.map((time, index) => time - (times[index - 1] ?? now));
        expect(gaps[0]).toBeGreaterThanOrEqual(timing.every / 2);
        expect(gaps[0]).toBeLessThan(1.5 * timing.every);
        expect(gaps.slice(1)).toEqual(gaps.slice(1).map(() => timing.every));
      }
    });

    it('spreads watches that were added at once over the interval', () => {
      const minutes = Array.from({ length: 10_000 }, (_, id) => {
        const due = nextDue(id + 1, timing, at('2026-05-01T12:00:00Z')) ?? 0;
        return Math.floor(due / MINUTE_MS) % 10;
      });
      const counts = [...Map.groupBy(minutes, (minute) => minute).values()].map((found) => found.length);
      expect(counts).toHaveLength(10);
      expect(Math.max(...counts)).toBeLessThan(1.2 * Math.min(...counts));
    });

    it('leaves out what was missed', () => {
      const [due = 0] = dues(timing, at('2026-05-01T12:00:00Z'), 1);
      const [later = 0, next = 0] = dues(timing, due + 5 * HOUR_MS, 2);
      expect(later - due).toBeGreaterThan(5 * HOUR_MS);
      expect(next - later).toBe(timing.every);
    });

    it('waits twice as long after each failure from the second in a row, at most a day longer', () => {
      const now = at('2026-05-01T12:00:00Z');
      const waits = [0, 1, 2, 3, 4, 30].map((failures) => (nextDue(1, timing, now, failures) ?? 0) - now);
      const [calm = 0, first, ...others] = waits;
      expect(first).toBe(calm);
      expect(others.map((wait) => (wait - calm) / MINUTE_MS)).toEqual([10, 30, 70, 24 * 60]);
    });
  });

  it('stays when a watch is changed, unless its timing changes or failures have delayed it', () => {
    const now = at('2026-05-01T12:00:00Z');
    const [from, to] = [{ every: 10 * MINUTE_MS }, { every: HOUR_MS }];
    expect(dueAfterChange(1, { from, to: from }, now + MINUTE_MS, now)).toBe(now + MINUTE_MS);
    expect(dueAfterChange(1, { from, to }, now + MINUTE_MS, now)).toBe(nextDue(1, to, now));
    expect(dueAfterChange(1, { from, to: from }, now + 24 * HOUR_MS, now)).toBe(nextDue(1, from, now));
    // A run that is due is made, with the new rules.
    expect(dueAfterChange(1, { from, to }, now - 1, now)).toBe(now - 1);
  });

  describe('with a schedule', () => {
    const daily = { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', jitter: 0 };
    const halfHourly = { schedule: '*/30 * * * *', timeZone: 'Europe/Berlin', jitter: 0 };

    it('is right after the gap when the time zone skips its hour', () => {
      expect(texts(dues(daily, at('2026-03-27T12:00:00Z'), 3))).toEqual(['03-28T01:30', '03-29T01:00', '03-30T00:30']);
    });

    it('is due once when the time zone has its hour twice', () => {
      expect(texts(dues(daily, at('2026-10-23T12:00:00Z'), 3))).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30']);
    });

    it('is due every half hour while clocks change', () => {
      for (const from of ['2026-03-28T22:10:00Z', '2026-10-24T22:10:00Z']) {
        const times = dues(halfHourly, at(from), 12);
        expect(times.map((time, index) => time - (times[index - 1] ?? time - 30 * MINUTE_MS))).toEqual(
          times.map(() => 30 * MINUTE_MS),
        );
      }
    });

    it('does not repeat a time when the clock is set back', () => {
      const [due = 0] = dues(halfHourly, at('2026-05-01T12:10:00Z'), 1);
      // The runner asks from the later of its clock and the time that was due.
      expect(nextDue(1, halfHourly, Math.max(due - HOUR_MS, due))).toBe(due + 30 * MINUTE_MS);
    });

    it('is delayed by up to the jitter, always by the same time', () => {
      const timing = { ...halfHourly, jitter: 5 * MINUTE_MS };
      const delays = Array.from({ length: 200 }, (_, id) => {
        const times = dues(timing, at('2026-05-01T12:00:00Z'), 3, id).map((time) => time % (30 * MINUTE_MS));
        expect(new Set(times).size).toBe(1);
        return times[0] ?? -1;
      });
      expect(Math.max(...delays)).toBeLessThanOrEqual(5 * MINUTE_MS);
      expect(new Set(delays).size).toBeGreaterThan(150);
    });
  });
});
