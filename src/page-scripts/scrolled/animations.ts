import { type Animation, animationsOf, page, timelineOf } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Returns the running transitions, and the running animations that end. */
export function moving(): Animation[] {
  const timeline = timelineOf(page);
  return animationsOf(page).filter((animation) => {
    const { playState, effect } = animation;
    if (playState !== 'running' || animation.timeline !== timeline || effect === null) return false;
    return effect.getComputedTiming().endTime < Number.POSITIVE_INFINITY;
  });
}

/** Returns the animations that follow the position of an element in the window. */
export function following(): Animation[] {
  return animationsOf(page).filter(({ timeline }) => timeline instanceof web.ViewTimeline);
}
