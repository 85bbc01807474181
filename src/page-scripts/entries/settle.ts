import { isRendered } from '../boxes/drawn-box.ts';
import {
  animationsOf,
  boxOf,
  type PageElement,
  page,
  rootElementOf,
  scrollHeightOf,
  selectOne,
  stateOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { nextFrame } from '../running/frames.ts';
import { kept } from '../running/kept.ts';
import { pause } from '../running/pause.ts';
import { mainScroller } from '../scrolled/main-scroller.ts';
import { type Observed, observe } from '../settle/observe.ts';
import { MAX_MOVING_MS, QUIET_MS, type Watch, watchChanges } from '../settle/watch-changes.ts';
import { readSigns, type Signs } from '../signs/read-signs.ts';
import { watchWork } from '../work/watch-work.ts';

/** The watch over a page that looked still, and the time at which it began to look so. */
interface StillWatch {
  beginning: number;
  changes?: Watch;
}

/** Number of animation frames, half a second, after which a document that has them is in the window. */
const LATE_FRAMES = 30;

/** Resolves when the document has loaded and drawn in the window. */
export async function awaitDrawn(): Promise<void> {
  if (stateOf(page) !== 'complete') await new Promise((resolve) => web.addEventListener('load', resolve));
  await awaitShown();
}

/**
 * Resolves when the document knows that the window shows it, and has drawn then. A frame in another process learns it
 * from the page around it, which may take longer than some animation frames.
 */
export async function awaitShown(): Promise<void> {
  const root = rootElementOf(page);
  const hasSize = web.innerWidth > 0 && web.innerHeight > 0;
  if (root !== null && hasSize && isRendered(root)) {
    // Where the content ends above the end of the frame, the window may show only what is below it.
    const belowIt = boxOf(root).height < web.innerHeight ? [frames(LATE_FRAMES)] : [];
    await Promise.race([whenInWindow(root, true), ...belowIt]);
  }
  // The compositor may still be painting the first frame when the second begins; it has drawn the first when the third
  // begins.
  await frames(3);
}

async function frames(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await nextFrame();
}

/** Resolves when the window does not show the document. */
export async function awaitOutside(): Promise<void> {
  const root = rootElementOf(page);
  await (root === null ? new Promise(() => undefined) : whenInWindow(root, false));
}

/** Resolves when an element is not rendered, or the window does not show it. */
export async function awaitHidden(element: PageElement): Promise<void> {
  if (isRendered(element)) await whenInWindow(element, false);
}

function whenInWindow(element: PageElement, isInside: boolean): Promise<void> {
  return new Promise((resolve) => {
    const observer = new web.IntersectionObserver((entries) => {
      if (entries.at(-1)?.isIntersecting !== isInside) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(element);
  });
}

/**
 * Resolves when nothing has changed for `QUIET_MS` and the page shows no sign of work, or after `maxMs`. Scroll
 * handlers and observers run in the first frames. A slow page or a busy machine may take longer than `QUIET_MS` for a
 * frame: after a change or a sign of work, the next frame must bring no other.
 */
export async function awaitSettled(maxMs: number): Promise<'quiet'> {
  const end = web.performance.now() + maxMs;
  const changes = watchChanges();
  const isWorking = watchWork();
  // A page can cancel frames.
  const untilEnd = (frames: Promise<void>) => Promise.race([frames, pause(Math.max(0, end - web.performance.now()))]);
  await untilEnd(nextFrame().then(nextFrame));
  /** Number of changes after which a frame was awaited. */
  let followed = 0;
  /** Whether there was a sign of work since a frame was awaited: most canvases change once a frame. */
  let worked = false;
  for (;;) {
    const now = web.performance.now();
    const { count, last } = changes.noticed();
    const left = Math.min(end, last + QUIET_MS) - now;
    if (left > 0) await pause(left);
    else if (now < end && isWorking(end - now)) {
      worked = true;
      await pause(Math.min(end - now, QUIET_MS));
    } else if (now < end && (worked || (count > followed && now < changes.beginning + MAX_MOVING_MS))) {
      followed = count;
      worked = false;
      await untilEnd(nextFrame());
    } else break;
  }
  changes.end();
  return 'quiet';
}

/** Lets the document settle, reads it, and what a verdict is based on. */
export async function observeDocument(
  settleMs: number,
  beyondWindow: boolean,
): Promise<Observed & { readonly signs: Signs | null }> {
  const seen = await observe(settleMs, beyondWindow);
  return { ...seen, signs: readSigns() };
}

/**
 * Waits until the page has drawn, for at most `maxMs`, reads the document, and from then on also watches for layout
 * shifts: earlier ones are in the screenshot. Null when the document has changed meanwhile, or may change unnoticed
 * within `settleMs`, and with `whole` also when there is something to scroll to.
 */
export async function lookStill(
  maxMs: number,
  settleMs: number,
  whole: boolean,
): Promise<(Observed & { readonly signs: Signs | null }) | null> {
  const early = watchChanges([]);
  const seen = await observe(maxMs, false);
  const isChanging = early.noticed().count > 0;
  early.end();
  const watch = keptWatch();
  watch.beginning = early.beginning;
  watch.changes = watchChanges(['layout-shift']);
  const mayChange = isChanging || (whole && scrolls()) || isAnimated() || draws() || watchWork()(settleMs);
  return mayChange ? null : { ...seen, signs: readSigns() };
}

function scrolls(): boolean {
  const root = rootElementOf(page);
  return root === null || scrollHeightOf(root) > web.innerHeight || mainScroller() !== null;
}

const isAnimated = (): boolean => animationsOf(page).some(({ playState }) => playState === 'running');

const draws = (): boolean => selectOne(page, 'canvas, video, object, embed') !== null;

/** Resolves with whether nothing has changed for `QUIET_MS` since `lookStill` began. */
export async function stayedStill(): Promise<boolean> {
  const { beginning, changes } = keptWatch();
  // Another document has come since.
  if (changes === undefined) return false;
  await pause(Math.max(0, beginning + QUIET_MS - web.performance.now()));
  const isStill = changes.noticed().count === 0;
  changes.end();
  return isStill;
}

const keptWatch = (): StillWatch => kept<StillWatch>('still', () => ({ beginning: 0 }));
