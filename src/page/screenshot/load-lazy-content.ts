import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { askPage, unblocked } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { awaitSettled } from '../wait/await-settled.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { HANDLER_MS, hearsScrolling } from './hears-window.ts';
import { measureExtent, onPage } from './measure-page.ts';
import { revealContent } from './reveal-content.ts';
import { screenshotMs } from './screenshot-cost.ts';
import { followedHeight } from './screenshot-size.ts';
import { type Seen, STEP_SHARE, scrollPage } from './scroll-page.ts';
import { scrollToElement } from './scroll-to-element.ts';
import { type ShotPlan, smaller, UNLIMITED } from './shot-plan.ts';

/**
 * Minimum time of a step in a page that listens to scrolling, and the share of the waiting time that all of them may
 * take, in a very tall page.
 */
const MIN_STEP_MS = 25;
const STEPS_SHARE = 1 / 3;
/** Maximum number of times that a page, such as a log, may grow by less than a window while its end is shown. */
const MAX_SMALL_GROWTHS = 3;
/** Maximum number of times that the page is scrolled through, when it has grown by the time its top is shown. */
const MAX_ROUNDS = 3;
/** Maximum time to show the top at the end, while a collapsed header expands again. */
const MAX_MOVING_MS = 2_000;

/** A part of the page, in CSS pixels from its top. */
interface Stretch {
  readonly top: number;
  readonly height: number;
}

/**
 * Scrolls through the part of the page that the screenshot shows, and back to the top, so that content which loads only
 * in the window is loaded. Resolves with false when the waiting time was over first. Does nothing when the window shows
 * everything.
 */
export async function loadLazyContent(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<boolean> {
  if (plan.shown.what === 'window') return true;
  const over = new AbortController();
  const mayGoOn = (height: number, elements: number) =>
    !over.signal.aborted && screenshotMs(height, elements, plan) < deadline.remainingMs / 2;
  let complete = false;
  const work = stretchOf(page, plan, deadline).then(async (stretch) => {
    complete = stretch === null || (await scrollThrough(page, stretch, deadline, mayGoOn));
    // The screenshot hides what has come over the window by now, and leaves what comes later.
    if (stretch !== null && plan.delayMs > 0) await askPage(page, deadline, 'look for popups', call('noteNewPopups'));
  });
  await waitWithin(page, deadline, 'scroll through the page', work).finally(() => over.abort());
  // Runs as soon as the page's main thread is free; the screenshot does not wait for it.
  if (!complete) void scrollPage(page, deadline, { from: 0, to: 0, stepMs: 0, hears: true }).catch(() => undefined);
  return complete;
}

/** The part of the page that the screenshot shows, up to its maximum; null when the window shows all of it. */
async function stretchOf(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<Stretch | null> {
  const { shown, viewport, maxHeight } = plan;
  const stretch = (y: number, height: number, end: number) =>
    y >= 0 && Math.min(y + height, end) <= viewport.height ? null : { top: y, height };
  if (shown.what === 'element') {
    const isOnPage = onPage(await measureExtent(page, viewport, deadline));
    const element = await scrollToElement(page, shown.selector, deadline, isOnPage).catch(absentWhileNavigating);
    if (element === 'absent') return null;
    // Some pages show an element only once it is in the window, and scrolling to it does not tell where it is.
    if (element === 'invisible') return { top: 0, height: maxHeight.height };
    if (await hasScroller(page, deadline)) return { top: 0, height: maxHeight.height };
    return stretch(element.y, Math.min(element.height, maxHeight.height), Number.POSITIVE_INFINITY);
  }
  const { cssContentSize } = await unblocked(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const fits = cssContentSize.height <= viewport.height;
  const scrolls = fits && (await hasScroller(page, deadline));
  const followed = scrolls ? UNLIMITED : followedHeight(cssContentSize.height, plan);
  if (shown.what === 'page') page.visit.shown = smaller(page.visit.drawn, followed);
  if (scrolls) return { top: 0, height: maxHeight.height };
  const whole = { y: 0, height: Math.min(maxHeight.height, page.visit.shown.height) };
  const { y, height } = shown.what === 'clip' ? shown.clip : whole;
  return stretch(y, height, cssContentSize.height);
}

/** A page that navigates again and again is searched once it has been stopped. */
function absentWhileNavigating(error: unknown): 'absent' {
  if (error instanceof CapstanError && error.code === 'capture_timeout') return 'absent';
  throw error;
}

async function hasScroller(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  return (await askPage(page, deadline, 'measure the page', call('hasScroller'))) === true;
}

/** Resolves with whether it scrolled to the end of the stretch and back to the top before `mayGoOn` returned false. */
async function scrollThrough(
  page: IsolatedPage,
  stretch: Stretch,
  deadline: Deadline,
  mayGoOn: (height: number, elements: number) => boolean,
): Promise<boolean> {
  // Requests are watched in order to wait for content that the page appends when it is scrolled to its end.
  page.requests.watch();
  const [listens, scroller] = await Promise.all([
    deadline.step('scroll through the page', unblocked(page, deadline, hearsScrolling(page))),
    askPage(page, deadline, 'measure the page', call('observeScrolling')),
  ]);
  const hears = listens || scroller === true;
  const { top } = stretch;
  const end = top + stretch.height;
  const slowUntil = performance.now() + deadline.waitingMs * STEPS_SHARE;
  const stepMs = (from: number, { height, window }: Pick<Seen, 'height' | 'window'>) => {
    const steps = Math.max(1, (Math.min(end, height) - from) / (window * STEP_SHARE));
    return hears ? Math.max(MIN_STEP_MS, Math.min(HANDLER_MS, (slowUntil - performance.now()) / steps)) : 0;
  };
  const check = ({ height, elements }: Seen) => mayGoOn(Math.min(end, height) - top, elements);
  let from = top;
  let tallest = 0;
  for (let round = 1; ; round += 1) {
    const bottom = await showTo(page, deadline, { from, end, stepMs, check, hears });
    if (typeof bottom === 'boolean') return bottom;
    const back = await showTop(page, deadline, hears, check);
    if (typeof back === 'boolean') return back;
    tallest = Math.max(tallest, bottom.height);
    if (back.height < end && back.height >= tallest + back.window / 2 && round < MAX_ROUNDS) {
      from = bottom.y;
      continue;
    }
    if (!back.changed) return true;
    const { found, hidden } = await revealContent(page, deadline);
    if (found === 0) return true;
    return (await showTop(page, deadline, hears, check)) !== false && hidden === 0;
  }
}

interface Scroll {
  readonly from: number;
  readonly end: number;
  readonly hears: boolean;
  readonly stepMs: (from: number, seen: Pick<Seen, 'height' | 'window'>) => number;
  readonly check: (seen: Seen) => boolean;
}

/**
 * Scrolls down to `end`, or to the end of a page that grows meanwhile, and waits for what that has started. Resolves
 * with false when there was no time for it, and with true when the document was replaced.
 */
async function showTo(page: IsolatedPage, deadline: Deadline, scroll: Scroll): Promise<Seen | boolean> {
  const { end, hears, stepMs, check } = scroll;
  const { started } = page.requests;
  let y = scroll.from;
  let ms = hears ? HANDLER_MS : 0;
  let settledHeight = 0;
  let smallGrowths = 0;
  let grew = false;
  for (;;) {
    const now = await scrollPage(page, deadline, { from: y, to: end, stepMs: ms, hears });
    if (now === undefined) return true;
    if (!check(now)) return false;
    y = now.y;
    ms = stepMs(y, now);
    grew ||= now.grew;
    if (y + now.window < Math.min(end, now.height) || now.loading > 0) continue;
    // If the page has an observer, it has reacted by now.
    const reacts = hears || grew || page.requests.started !== started;
    // The height may differ between the top and the end, so only heights at the end are compared.
    if (!reacts || (settledHeight > 0 && (now.height <= settledHeight || now.height >= end))) return now;
    if (settledHeight > 0 && now.height < settledHeight + now.window) smallGrowths += 1;
    if (smallGrowths > MAX_SMALL_GROWTHS) return now;
    if (!(await awaitSettled(page, deadline))) return false;
    settledHeight = now.height;
  }
}

/** Shows the top of the page until its images have loaded and nothing in it moves. Resolves as `showTo` does. */
async function showTop(
  page: IsolatedPage,
  deadline: Deadline,
  hears: boolean,
  check: (seen: Seen) => boolean,
): Promise<Seen | boolean> {
  const movesUntil = performance.now() + MAX_MOVING_MS;
  for (;;) {
    const now = await scrollPage(page, deadline, { from: 0, to: 0, stepMs: hears ? HANDLER_MS : 0, hears });
    if (now === undefined) return true;
    if (now.loading === 0 && (now.moving === 0 || performance.now() > movesUntil)) return now;
    if (!check(now)) return false;
  }
}
