import { type Animation, animationsOf, listen, type PageRoot, page, rootElementOf, timelineOf } from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { adopt } from '../dom/styles.ts';
import { web } from '../dom/web.ts';
import { type MapLimits, Mapper } from '../elements/mapper.ts';
import type { ImagePlace } from '../elements/place.ts';
import { inParts, type TextBeginning } from '../running/in-parts.ts';
import { kept } from '../running/kept.ts';

/** Characters of a map besides its styles and entries, with a margin. */
const MARGIN = 100;

/** Returns the element map of the page as JSON of at most `maxCharacters`. */
export function mapElements(image: ImagePlace, limits: MapLimits, maxCharacters: number): TextBeginning {
  const mapper = new Mapper(image, limits);
  const root = rootElementOf(page);
  if (root !== null) mapper.map(root);
  // Entries come after those that they refer to, and so do the styles that they have first, so the beginning of a map
  // that is too large is itself a valid map.
  const styles: string[] = [];
  const parts: string[] = [];
  let size = MARGIN;
  for (const entry of mapper.entries) {
    const part = JSON.stringify(entry);
    const style = 'style' in entry && entry.style === styles.length ? mapper.table.styles[entry.style] : undefined;
    const added = style === undefined ? '' : JSON.stringify(style);
    size += part.length + 1 + added.length + 1;
    if (size > maxCharacters) break;
    parts.push(part);
    if (style !== undefined) styles.push(added);
  }
  const partial = mapper.partial || parts.length < mapper.entries.length;
  return inParts(`{"styles":[${styles.join()}],"entries":[${parts.join()}],"partial":${partial}}`);
}

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
