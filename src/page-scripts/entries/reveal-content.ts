import { contains, type PageElement } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { nextFrame } from '../running/frames.ts';
import { pause } from '../running/pause.ts';
import { following, moving } from '../scrolled/animations.ts';
import { candidatesIn } from '../scrolled/candidates.ts';
import { isPlain, lookOf } from '../scrolled/looks.ts';
import { scrollerFor } from '../scrolled/scroller.ts';
import { scrolled } from '../scrolled/state.ts';

/** Time for handlers that wait for the end of scrolling, and maximum time for scripts that animate by themselves. */
const STOP_MS = 150;
const MAX_STOP_MS = 600;
/** Minimum number of frames for such scripts, also on a busy machine. */
const MIN_STOP_FRAMES = 10;
/** Time to wait for an animation frame: a page can cancel them. */
const FRAME_MS = 100;
/**
 * Time to wait beyond that for frames that never come, in all. Late ones come where other programs have the processor.
 */
const MAX_LATE_MS = 2_000;

/**
 * Scrolls to each element that the page may show only while it is in the window, ends its animations, and remembers its
 * look there. Returns how many there are, and how many stay hidden because the time was over.
 */
export async function revealContent(budgetMs: number): Promise<{ found: number; hidden: number }> {
  const state = scrolled();
  const { scrollTo } = scrollerFor(state.scroller);
  const followers = new Set(following().flatMap(({ effect }) => effect?.target ?? []));
  const candidates = candidatesIn(state, followers);
  if (candidates.size === 0) return { found: 0, hidden: 0 };
  const over = web.performance.now() + budgetMs;
  const waiting = [...candidates].sort(([, one], [, other]) => one - other);
  const frame = frameOrTime(over);
  const isDone = (element: PageElement) => followers.has(element) || isPlain(lookOf(element));
  for (let [next] = waiting; next !== undefined && web.performance.now() < over; [next] = waiting) {
    // The highest element is brought to the middle, and with it those that then are within a quarter of the window.
    const [, middle] = next;
    const reach = web.innerHeight / 4;
    const count = waiting.findIndex(([, place]) => place > middle + reach);
    const here = waiting.splice(0, count === -1 ? waiting.length : count).map(([element]) => element);
    await frame();
    scrollTo(middle + reach / 2 - web.innerHeight / 2);
    await Promise.all([frame().then(frame), pause(STOP_MS)]);
    const stopsAt = web.performance.now() + MAX_STOP_MS;
    const goesOn = (frames: number) => {
      const now = web.performance.now();
      return now < over && (now < stopsAt || frames < MIN_STOP_FRAMES) && !here.every(isDone);
    };
    let frames = 0;
    do {
      endAnimations(here);
      await frame();
      frames += 1;
    } while (goesOn(frames));
    for (const element of here) state.looks.set(element, { look: lookOf(element), follows: followers.has(element) });
  }
  return { found: candidates.size, hidden: waiting.filter(([element]) => isHidden(element)).length };
}

/** Returns a function that resolves with the next frame, or when the time for it is over. */
function frameOrTime(over: number): () => Promise<void> {
  let leftMs = MAX_LATE_MS;
  return async () => {
    const frame = nextFrame().then(() => true);
    if (await Promise.race([frame, pause(FRAME_MS)])) return;
    const since = web.performance.now();
    const patienceMs = Math.min(leftMs, over - since);
    if (patienceMs > 0 && !(await Promise.race([frame, pause(patienceMs)]))) leftMs -= web.performance.now() - since;
  };
}

/** Ends the animations of these elements and of those in them. */
function endAnimations(elements: readonly PageElement[]): void {
  for (const animation of moving()) {
    const target = animation.effect?.target ?? null;
    if (target !== null && elements.some((each) => contains(each, target))) animation.finish();
  }
}

function isHidden(element: PageElement): boolean {
  const { opacity, visibility } = web.getComputedStyle(element);
  return opacity === '0' || visibility === 'hidden';
}
