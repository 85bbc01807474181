import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { PAUSE } from '../wait/pause.ts';
import { HIDE_POPUPS } from './hide-popups.ts';
import { SCROLL_STATE } from './scroll-state.ts';

/** Share of the waiting time that showing hidden content may take. */
const REVEAL_SHARE = 1 / 4;
/** Time for handlers that wait for the end of scrolling, and maximum time for scripts that animate by themselves. */
const STOP_MS = 150;
const MAX_STOP_MS = 600;

/**
 * Looks at elements that a page shows only while they are in the window, and hides again: scrolls to each of them, ends
 * its animations, and remembers its look there for `KEEP_LOOKS`. Does nothing on a page without such elements. Returns
 * how many of them it found, and how many stay hidden because the time was over.
 */
export async function revealContent(page: IsolatedPage, deadline: Deadline): Promise<Revealed> {
  const budgetMs = deadline.waitingMs * REVEAL_SHARE;
  return revealed.parse((await askPage(page, deadline, 'show hidden content', `(${REVEAL})(${budgetMs})`)) ?? {});
}

const revealed = z.object({ found: z.number().default(0), hidden: z.number().default(0) });

export type Revealed = z.infer<typeof revealed>;

/** JavaScript of an object that says how an element looks, by the properties with which pages hide and move content. */
const LOOK_OF = `(element) => {
  const style = getComputedStyle(element);
  const { opacity, visibility, transform, translate, scale, rotate, filter } = style;
  return { opacity, visibility, transform, translate, scale, rotate, filter, 'clip-path': style.clipPath };
}`;

/**
 * JavaScript of a function that returns whether a property has the value of an element that is neither hidden nor
 * moved.
 */
const IS_PLAIN = `(name, value) =>
  name === 'opacity' ? value === '1'
    : name === 'visibility' ? value === 'visible'
    : value === 'none' || value === 'matrix(1, 0, 0, 1, 0, 0)'`;

/** JavaScript of a function that returns the elements that are animated by their position in the window. */
const FOLLOWERS = `() => new Set(
  Document.prototype.getAnimations.call(document)
    .filter(({ timeline }) => timeline instanceof ViewTimeline)
    .map(({ effect }) => effect?.target),
)`;

/** Runs in the page. */
const REVEAL = `async (budgetMs) => {
  const state = (${SCROLL_STATE})();
  const { scroller, changed, looks } = state;
  const lookOf = ${LOOK_OF};
  const isPlain = ${IS_PLAIN};
  const followers = (${FOLLOWERS})();
  const box = (element) => Element.prototype.getBoundingClientRect.call(element);
  const follows = new Map();
  // Elements that stay in the window keep the look that they have at the top.
  const staysInWindow = (element) => {
    if (!element || element === scroller) return false;
    if (!follows.has(element)) {
      const { position } = getComputedStyle(element);
      follows.set(element, position === 'fixed' || position === 'sticky' || staysInWindow(element.parentElement));
    }
    return follows.get(element);
  };
  const candidates = new Map();
  const consider = (element) => {
    if (!element?.isConnected || candidates.has(element)) return;
    const look = lookOf(element);
    const isHidden = Object.entries(look).some(([name, value]) => !isPlain(name, value));
    if (!isHidden && !followers.has(element)) return;
    const { top, height, width, bottom } = box(element);
    if (width === 0 || height === 0 || bottom <= innerHeight * 0.8 || staysInWindow(element)) return;
    candidates.set(element, top + height / 2);
  };
  for (const element of followers) consider(element);
  for (const element of changed) {
    consider(element);
    for (const each of element.querySelectorAll('*')) consider(each);
    if (candidates.size > 3000) break;
  }
  if (candidates.size === 0) return { found: 0, hidden: 0 };
  const over = performance.now() + budgetMs;
  const pause = ${PAUSE};
  const frame = () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), pause(100)]);
  const scrollTop = (top) =>
    scroller ? Element.prototype.scrollTo.call(scroller, { top, behavior: 'instant' }) : scrollTo({ top, left: 0, behavior: 'instant' });
  const waiting = [...candidates].sort(([, one], [, other]) => one - other);
  while (waiting.length > 0 && performance.now() < over) {
    // The highest element is brought to the middle, and with it those that then are within a quarter of the window.
    const middle = waiting[0][1];
    const reach = innerHeight / 4;
    const here = [];
    while (waiting.length > 0 && waiting[0][1] <= middle + reach) here.push(waiting.shift()[0]);
    await frame();
    scrollTop(middle + reach / 2 - innerHeight / 2);
    await Promise.all([frame().then(frame), pause(${STOP_MS})]);
    const stopsAt = Math.min(over, performance.now() + ${MAX_STOP_MS});
    const isDone = () => here.every((each) => followers.has(each) || Object.entries(lookOf(each)).every(([name, value]) => isPlain(name, value)));
    do {
      for (const animation of Document.prototype.getAnimations.call(document)) {
        const { playState, timeline, effect } = animation;
        if (playState !== 'running' || timeline !== document.timeline || effect?.getComputedTiming().endTime === Infinity) continue;
        if (here.some((each) => each === effect.target || each.contains(effect.target))) animation.finish();
      }
      await frame();
    } while (!isDone() && performance.now() < stopsAt);
    for (const element of here) looks.set(element, { look: lookOf(element), follows: followers.has(element) });
  }
  const isHidden = ([element]) => {
    const { opacity, visibility } = getComputedStyle(element);
    return opacity === '0' || visibility === 'hidden';
  };
  return { found: candidates.size, hidden: waiting.filter(isHidden).length };
}`;

/**
 * JavaScript of a function that gives elements the look that they had in the middle of the window, when the page has
 * hidden them since, and hides what came over the window while it was scrolled. Call it at the top of the page, after
 * its HTML was read.
 */
export const KEEP_LOOKS = `(setStyle) => {
  const state = globalThis[Symbol.for('capstan-scrolled')];
  if (!state) return;
  const lookOf = ${LOOK_OF};
  const isPlain = ${IS_PLAIN};
  const pins = [];
  for (const [element, { look, follows }] of state.looks) {
    const now = lookOf(element);
    const isShown = Object.keys(look).some((name) =>
      look[name] !== now[name] && (name === 'opacity' ? Number(look.opacity) > Number(now.opacity) : isPlain(name, look[name])));
    if (isShown || follows) pins.push([element, look]);
  }
  for (const [element, look] of pins) setStyle(element, { ...look, transition: 'none' });
  (${HIDE_POPUPS})(setStyle, state);
}`;
