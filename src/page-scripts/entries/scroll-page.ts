import { elementCountOf, isComplete, isConnected, type PageElement, page } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { nextFrame } from '../running/frames.ts';
import { pause } from '../running/pause.ts';
import { following, moving } from '../scrolled/animations.ts';
import { scrollerFor } from '../scrolled/scroller.ts';
import { scrolled } from '../scrolled/state.ts';

/** CSS pixels from the top of the page, times in milliseconds. */
interface Way {
  readonly from: number;
  readonly to: number;
  /** Share of the window's height that each step scrolls by. */
  readonly stepShare: number;
  /** Time that each step shows after its first animation frame. */
  readonly stepMs: number;
  /** Whether the page listens to scrolling. */
  readonly hears: boolean;
  /** Time after which it stops. */
  readonly maxMs: number;
  /** Time after which animation frames are not waited for: a page can cancel them. */
  readonly maxFrameMs: number;
}

interface Seen {
  /** CSS pixels from the top of the page to the window. */
  y: number;
  /** CSS pixels of the page and of the window. */
  height: number;
  window: number;
  /** Whether the height of the page has changed meanwhile. */
  grew: boolean;
  /** Number of elements in the document. */
  elements: number;
  /** Number of images that have been in the window and have not loaded. */
  loading: number;
  /** Number of running transitions and of running animations that end. */
  moving: number;
  /** Whether elements have changed since the first scroll, or are animated by their position in the window. */
  changed: boolean;
}

/**
 * Scrolls right at the beginning of animation frames, so that observers run once at each position: two positions within
 * one frame would hide the first one from them. The last step lasts until its images have loaded. Only images that have
 * been in the window are waited for: an image that is collapsed or outside a carousel's frame may never load. At the
 * top (`to` is 0), running transitions and animations are waited for, too.
 */
export async function scrollPage({ from, to, stepShare, stepMs, hears, maxMs, maxFrameMs }: Way): Promise<Seen> {
  const state = scrolled();
  state.hears = hears;
  const { shown, changed, watchImages } = state;
  const { top, size, height, scrollTo } = scrollerFor(state.scroller);
  const late = pause(maxFrameMs);
  const frame = () => Promise.race([nextFrame(), late]);
  const show = async (y: number) => {
    watchImages();
    scrollTo(y);
    await frame();
    if (stepMs > 0) await Promise.all([frame(), pause(stepMs)]);
  };
  const over = web.performance.now() + maxMs;
  const hasTime = () => web.performance.now() < over;
  const before = height();
  let y = from;
  const hasMore = () => y + size() < Math.min(to, height());
  const isAway = Math.abs(top() - from) > 1;
  const isNew = isAway || hasMore();
  // The top is a single position, and the last one was seen in the frames with which the pass before ended.
  if (to > 0 && isNew) await frame();
  watchImages();
  if (isAway) await show(from);
  while (hasMore() && hasTime()) {
    // The page may grow below the position at which a scroll ended.
    y = Math.min(y + size() * stepShare, height() - size());
    await show(y);
  }
  const isDone = () => countLoading(shown) === 0 && !(to === 0 && moving().length > 0);
  // If scrolling down has changed nothing in the page, scrolling back to its top changes nothing either.
  const mayReact = to > 0 || hears || changed.size > 0;
  if (!hasMore() && ((isNew && mayReact) || !isDone())) {
    do await frame();
    while (!isDone() && !hasMore() && hasTime());
  }
  return {
    y,
    height: height(),
    grew: height() !== before,
    window: size(),
    elements: elementCountOf(page),
    loading: countLoading(shown),
    moving: moving().length,
    changed: changed.size > 0 || following().length > 0,
  };
}

/** Forgets images that have loaded or are gone, and returns the number of the others. */
function countLoading(images: Set<PageElement>): number {
  for (const image of images) if (isComplete(image) || !isConnected(image)) images.delete(image);
  return images.size;
}
