import { type Animation, animationsOf, boxOf, nameOf, type PageElement, page, timelineOf } from '../dom/dom.ts';
import { holds, isInWindow, isOpaque, isWithin, ownText } from './shown.ts';
import { MAX_SIGN_SIDE } from './signs.ts';

/** Boxes below this size, in CSS pixels, that blink alone are decoration, such as the dot beside "live". */
const MIN_BLINK_SIDE = 12;

/** Whether an animation is a spinner, or ends within this time in milliseconds. */
export function isMoving(leftMs: number): boolean {
  const ownTimeline = timelineOf(page);
  return animationsOf(page).some((animation) => {
    const { playState, timeline, effect, playbackRate, currentTime } = animation;
    // Animations of other timelines follow scrolling.
    if (playState !== 'running' || timeline !== ownTimeline || !effect?.target) return false;
    const { endTime } = effect.getComputedTiming();
    if (endTime === Number.POSITIVE_INFINITY) return isSpinning(effect, effect.target);
    return playbackRate !== 0 && (endTime - (currentTime ?? 0)) / Math.abs(playbackRate) <= leftMs;
  });
}

function isSpinning(effect: NonNullable<Animation['effect']>, target: PageElement): boolean {
  const box = boxOf(target);
  const [shorter, longer] = box.width < box.height ? [box.width, box.height] : [box.height, box.width];
  if (shorter > MAX_SIGN_SIDE || ownText(target) !== '' || !isInWindow(box)) return false;
  if (holds(target, 'img, video, canvas, iframe') || isWithin(target, 'a, button')) return false;
  if (nameOf(target) === 'img') return false;
  const keyframes = JSON.stringify(effect.getKeyframes());
  if (/rotate|stroke-?dash/i.test(keyframes)) return isOpaque(target);
  const isLarge = longer >= 2 * MIN_BLINK_SIDE && shorter >= MIN_BLINK_SIDE;
  return isLarge && (effect.pseudoElement !== null || /"(?:opacity|background)/.test(keyframes));
}
