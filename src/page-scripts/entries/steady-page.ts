import { steadyClock } from '../steady/clock.ts';
import { steadyRandomness } from '../steady/randomness.ts';
import { steadyTimers } from '../steady/timers.ts';
import type { World } from '../steady/world.ts';

/**
 * Gives a document of a page the same clock, random numbers and progress of animations in every capture. It runs before
 * the page's own scripts, and in their world, because it replaces what they call.
 */
export function steadyPage({ now, seed, frames, timers }: World): void {
  steadyClock(now);
  steadyRandomness(seed);
  steadyTimers({ frames, timers });
}
