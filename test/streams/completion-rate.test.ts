import { describe, expect, it } from 'vitest';
import { createCompletionRate } from '../../src/streams/completion-rate.ts';

describe('the completion rate', () => {
  /** Notes a completion every `everyMs`, for a minute. */
  function afterMinute(everyMs: number, saturated: boolean) {
    const rate = createCompletionRate();
    for (let now = 0; now <= 60_000; now += everyMs) rate.note(now, saturated, 1);
    return rate;
  }

  it('measures the time per capture while all slots are busy', () => {
    expect(afterMinute(100, true).msPerCompletion()).toBeCloseTo(100, -1);
  });

  it('keeps its value while slots are free, however many captures end', () => {
    const rate = afterMinute(500, true);
    const before = rate.msPerCompletion();
    for (let now = 60_000; now <= 120_000; now += 10) rate.note(now, false, 1);
    expect(rate.msPerCompletion()).toBe(before);
  });

  it('counts only busy time after a minute with free slots', () => {
    const rate = afterMinute(10, false);
    expect(rate.msPerCompletion()).toBe(0);
    rate.note(62_000, true);
    expect(rate.msPerCompletion()).toBeGreaterThan(1900);
  });

  it('counts no time when the clock is set back', () => {
    const rate = afterMinute(100, true);
    rate.note(0, true);
    expect(rate.msPerCompletion()).toBeCloseTo(100, -1);
  });
});
