import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { PAUSE } from '../wait/pause.ts';
import { SCROLL_STATE } from './scroll-state.ts';

/** Share of the window's height that each step scrolls by, so that no content falls between two steps. */
export const STEP_SHARE = 0.9;
/** Maximum time of one evaluation in the page, after which the remaining time is checked. Each begins with a frame. */
const MAX_PASS_MS = 400;
/** Time from the beginning of an evaluation after which animation frames are not waited for: a page can cancel them. */
const MAX_FRAME_MS = MAX_PASS_MS + 200;

const seen = z.object({
  /** CSS pixels from the top of the page to the window. */
  y: z.number(),
  /** CSS pixels of the page and of the window. */
  height: z.number(),
  window: z.number(),
  /** Whether the height of the page has changed meanwhile. */
  grew: z.boolean(),
  /** Number of elements in the document. */
  elements: z.number(),
  /** Number of images that have been in the window and have not loaded. */
  loading: z.number(),
  /** Number of running transitions and of running animations that end. */
  moving: z.number(),
  /** Whether elements have changed since the first scroll, or are animated by their position in the window. */
  changed: z.boolean(),
});

export type Seen = z.infer<typeof seen>;

/** CSS pixels from the top of the page, and the time that each step shows after its first animation frame. */
export interface Way {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  /** Whether the page listens to scrolling. */
  readonly hears: boolean;
}

/**
 * Scrolls through these positions and returns the measured state. Stops early when the time of one evaluation is over.
 * Undefined when the document was replaced.
 */
export async function scrollPage(page: IsolatedPage, deadline: Deadline, way: Way): Promise<Seen | undefined> {
  const maxMs = Math.min(MAX_PASS_MS, Math.max(0, deadline.waitingMs));
  const value = await askPage(
    page,
    deadline,
    'scroll through the page',
    `(${SCROLL})(${JSON.stringify({ ...way, maxMs })})`,
  );
  return value === undefined ? undefined : seen.parse(value);
}

/**
 * Runs in the page. Scrolls right at the beginning of animation frames, so that observers run once at each position:
 * two positions within one frame would hide the first one from them. The last step lasts until its images have loaded.
 * Only images that have been in the window are waited for: an image that is collapsed or outside a carousel's frame may
 * never load. At the top (`to` is 0), running transitions and animations are waited for, too.
 */
const SCROLL = `async ({ from, to, stepMs, hears, maxMs }) => {
  const state = (${SCROLL_STATE})();
  state.hears = hears;
  const { scroller, shown, changed, watchImages } = state;
  const root = scroller ?? Reflect.get(Document.prototype, 'scrollingElement', document) ??
    Reflect.get(Document.prototype, 'documentElement', document);
  const place = () => (scroller ? scroller.scrollTop : scrollY);
  const size = () => Math.max(1, scroller ? scroller.clientHeight : innerHeight);
  const scroll = (options) => (scroller ? Element.prototype.scrollTo.call(scroller, options) : scrollTo(options));
  const pause = ${PAUSE};
  const late = pause(${MAX_FRAME_MS});
  const frame = () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), late]);
  const height = () => (root ? root.scrollHeight : 0);
  const show = async (y) => {
    watchImages();
    scroll({ top: y, left: 0, behavior: 'instant' });
    await frame();
    if (stepMs > 0) await Promise.all([frame(), pause(stepMs)]);
  };
  const loading = () => {
    for (const image of shown) if (image.complete || !image.isConnected) shown.delete(image);
    return shown.size;
  };
  const over = performance.now() + maxMs;
  const before = height();
  const isMoving = ({ playState, timeline, effect }) =>
    playState === 'running' && timeline === document.timeline && effect?.getComputedTiming().endTime < Infinity;
  const animations = () => Document.prototype.getAnimations.call(document);
  const moving = () => animations().filter(isMoving).length;
  let y = from;
  const hasMore = () => y + size() < Math.min(to, height());
  const isAway = Math.abs(place() - from) > 1;
  const isNew = isAway || hasMore();
  // The top is a single position, and the last one was seen in the frames with which the pass before ended.
  if (to > 0 && isNew) await frame();
  watchImages();
  if (isAway) await show(from);
  while (hasMore() && performance.now() < over) {
    // The page may grow below the position at which a scroll ended.
    y = Math.min(y + size() * ${STEP_SHARE}, height() - size());
    await show(y);
  }
  const isDone = () => loading() === 0 && !(to === 0 && moving() > 0);
  // If scrolling down has changed nothing in the page, scrolling back to its top changes nothing either.
  const mayReact = to > 0 || hears || changed.size > 0;
  if (!hasMore() && ((isNew && mayReact) || !isDone())) {
    do await frame();
    while (!isDone() && !hasMore() && performance.now() < over);
  }
  return {
    y,
    height: height(),
    grew: height() !== before,
    window: size(),
    elements: Document.prototype.getElementsByTagName.call(document, '*').length,
    loading: loading(),
    moving: moving(),
    changed: changed.size > 0 || animations().some(({ timeline }) => timeline instanceof ViewTimeline),
  };
}`;
