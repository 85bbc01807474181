import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { createReadPace } from '../../src/streams/read-pace.ts';

/** Reads for 200 ms. Returns when each item was read, in milliseconds. */
function readTimes(hasOthers: boolean, utilization: number): readonly number[] {
  const time = new TestScheduler(() => true);
  time.maxFrames = 200;
  const pace = createReadPace({
    hasOthers: () => hasOthers,
    scheduler: time,
    utilization: () => ({ utilization, idle: 0, active: 0 }),
  });
  const times: number[] = [];
  const readOn = () =>
    pace.room$.subscribe(() => {
      times.push(time.now());
      pace.read();
      time.schedule(readOn);
    });
  readOn();
  time.flush();
  return times;
}

/** Four of each. */
const fours = (times: readonly number[]) => times.flatMap((at) => [at, at, at, at]);

describe('the pace at which a batch is read', () => {
  it('reads 4 items per turn of an idle event loop', () => {
    expect(readTimes(false, 0.5).slice(0, 12)).toEqual(fours([0, 1, 2]));
    expect(readTimes(true, 0.15).slice(0, 12)).toEqual(fours([0, 1, 2]));
  });

  it('pauses 5 ms on a busy event loop, and 41 ms while other owners have captures', () => {
    expect(readTimes(false, 0.6).slice(0, 12)).toEqual(fours([0, 5, 10]));
    expect(readTimes(true, 0.5).slice(0, 12)).toEqual(fours([0, 41, 82]));
  });
});
