import { own } from './replaced.ts';
import type { World } from './world.ts';

/** Minimum delay of long timers, in milliseconds: those of carousels and late content. */
const LONG_MS = 400;
/** Number of animation frames, spaced so that an entrance animation of 2 s ends, and of calls of short intervals. */
const MAX_FRAMES = 12;
const FRAME_MS = 2_000 / MAX_FRAMES;
const MAX_CALLS = 12;

/** Makes timers and animation frames of the page end early, unless they may go on. */
export function steadyTimers({ frames, timers }: Pick<World, 'frames' | 'timers'>): void {
  const { setTimeout: later, setInterval: again, clearInterval: end, requestAnimationFrame: draw } = own;
  if (!timers) {
    own.setTimeout = (run, ms, ...given) => (isLong(ms) ? later(() => {}, 0) : later(run, ms, ...given));
  }
  own.setInterval = (run, ms, ...given) => {
    if (isLong(ms)) return timers ? again(run, ms, ...given) : again(() => {}, 1e9);
    if (frames || typeof run !== 'function') return again(run, ms, ...given);
    let left = MAX_CALLS;
    const id = again(() => {
      if (--left <= 0) end(id);
      run(...given);
    }, ms);
    return id;
  };
  if (frames) return;
  let drawn = 0;
  let last = 0;
  own.requestAnimationFrame = (run) =>
    draw((time) => {
      if (time !== last) {
        drawn += 1;
        last = time;
      }
      if (drawn <= MAX_FRAMES) run(drawn * FRAME_MS);
    });
}

/** Scripts of a page also give numbers as text, which the comparison converts. */
const isLong = (ms: number | undefined): boolean => ms !== undefined && ms >= LONG_MS;
