import { type Animation, animationsOf, listen, type PageRoot, page, timelineOf } from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { adopt } from '../dom/styles.ts';
import { web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';

/**
 * Ends the animations of the document and those that begin later, and hides the caret. Returns the number of animations
 * that it ended. Animations that follow scrolling stay: they show what belongs to the scroll position.
 */
export function freezeAnimations(): number {
  const frozen = kept('frozen', () => new WeakSet<PageRoot>());
  const noCaret = new web.CSSStyleSheet();
  noCaret.replaceSync('* { caret-color: transparent !important }');
  const timeline = timelineOf(page);
  let ended = 0;
  for (const tree of treesIn(page)) {
    const endAll = () => animationsOf(tree).filter((animation) => end(animation, timeline)).length;
    ended += endAll();
    if (frozen.has(tree)) continue;
    frozen.add(tree);
    adopt(tree, noCaret);
    for (const type of ['transitionrun', 'animationstart']) listen(tree, type, endAll);
  }
  return ended;
}

/** Returns whether it ended the animation. */
function end(animation: Animation, timeline: object): boolean {
  const { effect, playState, playbackRate } = animation;
  if (effect === null || playState === 'finished' || playbackRate === 0) return false;
  if (animation.timeline !== timeline) return false;
  try {
    if (effect.getComputedTiming().endTime === Number.POSITIVE_INFINITY) animation.cancel();
    else animation.finish();
    return true;
  } catch {
    return false;
  }
}
