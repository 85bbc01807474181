import { z } from 'zod';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import { askPage, letGo } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { awaitSettled } from '../wait/await-settled.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { hearsScrolling } from './hears-scrolling.ts';
import { screenshotMs } from './screenshot-cost.ts';
import { maxHeightOf } from './screenshot-size.ts';
import { scrollToElement } from './scroll-to-element.ts';

/** Share of the window's height that each step scrolls by, so that no content falls between two steps. */
const STEP_SHARE = 0.9;
/** Minimum time of a step in a page that listens to scrolling, after the frame in which it receives the event. */
const MIN_STEP_MS = 25;
/** Maximum time of one evaluation in the page, after which the remaining time is checked. */
const MAX_PASS_MS = 250;
/** Maximum time to wait for an animation frame, which a page can cancel. */
const MAX_FRAME_MS = 500;
/** Maximum number of times that the top is shown at the end, while a collapsed header expands again. */
const MAX_LOOKS_AT_TOP = 2;

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
  /** Number of running transitions. */
  moving: z.number(),
});

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
export async function loadLazyContent(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<boolean> {
  if (!showsMoreThanWindow(request)) return true;
  const over = new AbortController();
  const mayGoOn = (height: number, elements: number) =>
    !over.signal.aborted && screenshotMs(height, elements, request) < deadline.remainingMs / 2;
  let complete = false;
  const work = stretchOf(page, request, deadline).then(async (stretch) => {
    complete = stretch === null || (await scrollThrough(page, stretch, deadline, mayGoOn));
  });
  await waitWithin(page, deadline, 'scroll through the page', work).finally(() => over.abort());
  // Runs as soon as the page's main thread is free; the screenshot does not wait for it.
  if (!complete) void look(page, deadline, { from: 0, to: 0, stepMs: 0 }).catch(() => undefined);
  return complete;
}

function showsMoreThanWindow({ fullPage, selector, clip, format }: CaptureRequest): boolean {
  return fullPage || selector !== undefined || clip !== undefined || format === 'pdf';
}

/** The part of the page that the screenshot shows, to the cap; null when the window shows all of it. */
async function stretchOf(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<Stretch | null> {
  const stretch = (y: number, height: number, end: number) =>
    y >= 0 && Math.min(y + height, end) <= request.viewport.height ? null : { top: y, height };
  if (request.selector !== undefined) {
    const element = await scrollToElement(page, request.selector, deadline);
    if (typeof element === 'string') return null;
    return stretch(element.y, Math.min(element.height, maxHeightOf(request)), Number.POSITIVE_INFINITY);
  }
  const { cssContentSize } = await letGo(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const { y, height } = request.clip ?? { y: 0, height: maxHeightOf(request) };
  return stretch(y, height, cssContentSize.height);
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
  const { started } = page.requests;
  const hears = await deadline.step('scroll through the page', letGo(page, deadline, hearsScrolling(page)));
  const { top } = stretch;
  const end = top + stretch.height;
  let y = top;
  let settledHeight: number | null = null;
  for (;;) {
    const now = await look(page, deadline, { from: y, to: end, stepMs: hears ? MIN_STEP_MS : 0 });
    if (now === undefined) return true;
    if (!mayGoOn(Math.min(end, now.height) - top, now.elements)) return false;
    y = now.y;
    if (y + now.window < Math.min(end, now.height) || now.loading > 0) continue;
    // If the page has an observer, it has reacted by now.
    const reacts = hears || now.grew || page.requests.started !== started;
    if (reacts && now.height !== settledHeight && now.height < end) {
      if (!(await awaitSettled(page, deadline))) return false;
    }
    settledHeight = now.height;
    const back = await lookAtTop(page, deadline);
    if (back === undefined || back.height >= end || (back.height === settledHeight && back.loading === 0)) return true;
  }
}

/** Shows the top of the page until nothing in it moves. Undefined when the document was replaced. */
async function lookAtTop(page: IsolatedPage, deadline: Deadline): Promise<Seen | undefined> {
  for (let looks = 1; ; looks += 1) {
    const now = await look(page, deadline, { from: 0, to: 0, stepMs: 0 });
    if (now === undefined || now.moving === 0 || looks === MAX_LOOKS_AT_TOP) return now;
  }
}

type Seen = z.infer<typeof seen>;

/** CSS pixels from the top of the page, and the time that each step shows after its first animation frame. */
interface Way {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/**
 * Scrolls through these positions and returns the measured state. Stops early when the time of one evaluation is over.
 * Undefined when the document was replaced.
 */
async function look(page: IsolatedPage, deadline: Deadline, way: Way): Promise<Seen | undefined> {
  const value = await askPage(page, deadline, 'scroll through the page', `(${LOOK})(${JSON.stringify(way)})`);
  return value === undefined ? undefined : seen.parse(value);
}

/**
 * Runs in the page. Each step lasts at least one animation frame, in which observers run; the last step lasts two, and
 * until its images have loaded. Only images that have been in the window are waited for: an image that is collapsed or
 * outside a carousel's frame may never load. At the top (`to` is 0), transitions are waited for, too.
 */
const LOOK = `async ({ from, to, stepMs }) => {
  const key = Symbol.for('capstan-shown');
  const state = (globalThis[key] ??= (() => {
    const known = new WeakSet();
    const shown = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) shown.add(target);
    });
    return { known, shown, observer };
  })());
  const images = Document.prototype.getElementsByTagName.call(document, 'img');
  const root = Reflect.get(Document.prototype, 'scrollingElement', document) ??
    Reflect.get(Document.prototype, 'documentElement', document);
  const pause = (ms) => new Promise((resolve) => AbortSignal.timeout(ms).addEventListener('abort', resolve));
  const late = pause(${MAX_FRAME_MS});
  const frame = () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), late]);
  const height = () => (root ? root.scrollHeight : 0);
  const show = async (y) => {
    for (const image of images) {
      if (state.known.has(image)) continue;
      state.known.add(image);
      state.observer.observe(image);
    }
    scrollTo({ top: y, left: 0, behavior: 'instant' });
    await frame();
    if (stepMs > 0) await Promise.all([frame(), pause(stepMs)]);
  };
  const loading = () => {
    for (const image of state.shown) if (image.complete || !image.isConnected) state.shown.delete(image);
    return state.shown.size;
  };
  const over = performance.now() + ${MAX_PASS_MS};
  const before = height();
  const moving = () => {
    const running = Document.prototype.getAnimations.call(document);
    return running.filter((each) => each instanceof CSSTransition && each.playState === 'running').length;
  };
  let y = from;
  if (stepMs > 0 || scrollY !== from) await show(from);
  const hasMore = () => y + innerHeight < Math.min(to, height());
  while (hasMore() && performance.now() < over) {
    // The page may grow below the place where a scroll ended.
    y = Math.min(y + Math.max(1, innerHeight) * ${STEP_SHARE}, height() - innerHeight);
    await show(y);
  }
  const isDone = () => hasMore() || (loading() === 0 && !(to === 0 && moving() > 0));
  do await frame();
  while (!isDone() && performance.now() < over);
  return {
    y,
    height: height(),
    grew: height() !== before,
    window: Math.max(1, innerHeight),
    elements: Document.prototype.getElementsByTagName.call(document, '*').length,
    loading: loading(),
    moving: moving(),
  };
}`;
