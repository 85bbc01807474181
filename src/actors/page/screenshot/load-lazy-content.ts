import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import { askPage, letGo } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { awaitSettled } from '../wait/await-settled.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { screenshotMs } from './screenshot-cost.ts';
import { maxHeightOf } from './screenshot-size.ts';
import { scrollToElement } from './scroll-to-element.ts';

/** Share of the window's height that each step scrolls by, so that no content falls between two steps. */
const STEP_SHARE = 0.9;
/** Time that each step shows, in which observers and scroll handlers run: two frames, and within these bounds. */
const MIN_LOOK_MS = 40;
const MAX_LOOK_MS = 500;
/** Maximum number of looks at the top, in the end, while a header that was folded away unfolds. */
const MAX_LOOKS_AT_TOP = 8;

const seen = z.object({
  /** CSS pixels of the page and of the window. */
  height: z.number(),
  window: z.number(),
  /** Elements in the document. */
  elements: z.number(),
  /** Images that have been in the window and have not loaded. */
  loading: z.number(),
  /** Running transitions. */
  moving: z.number(),
});

/** CSS pixels from the top of the page. */
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
  if (!complete) void look(page, deadline, 0).catch(() => undefined);
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

/** Resolves with whether it reached the end of the stretch, and the top again, while `mayGoOn` held. */
async function scrollThrough(
  page: IsolatedPage,
  stretch: Stretch,
  deadline: Deadline,
  mayGoOn: (height: number, elements: number) => boolean,
): Promise<boolean> {
  // Content that a page appends when it is scrolled to its end is waited for.
  page.requests.watch();
  const { top } = stretch;
  const end = top + stretch.height;
  let y = top;
  for (let settledHeight = 0; ; ) {
    const now = await look(page, deadline, y);
    if (now === undefined) return true;
    if (!mayGoOn(Math.min(end, now.height) - top, now.elements)) return false;
    if (y + now.window < Math.min(end, now.height)) y += now.window * STEP_SHARE;
    else if (now.loading > 0) await delay(MIN_LOOK_MS);
    else if (now.height === settledHeight || now.height >= end) break;
    else {
      if (!(await awaitSettled(page, deadline))) return false;
      settledHeight = now.height;
    }
  }
  for (let looks = 0; looks < MAX_LOOKS_AT_TOP; looks += 1) {
    const now = await look(page, deadline, 0);
    if (now === undefined || now.moving === 0) break;
  }
  return true;
}

/** Shows the page from `y` on for a moment and returns what was seen. Undefined when the document was replaced. */
async function look(page: IsolatedPage, deadline: Deadline, y: number): Promise<z.infer<typeof seen> | undefined> {
  const value = await askPage(page, deadline, 'scroll through the page', `(${LOOK})(${y})`);
  return value === undefined ? undefined : seen.parse(value);
}

/**
 * Runs in the page. Only images that have been in the window are waited for: one that is folded away or outside a
 * carousel's frame may never load.
 */
const LOOK = `async (y) => {
  const key = Symbol.for('capstan-shown');
  const state = (globalThis[key] ??= (() => {
    const known = new WeakSet();
    const shown = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) shown.add(target);
    });
    return { known, shown, observer };
  })());
  for (const image of Document.prototype.querySelectorAll.call(document, 'img')) {
    if (state.known.has(image)) continue;
    state.known.add(image);
    state.observer.observe(image);
  }
  scrollTo({ top: y, left: 0, behavior: 'instant' });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pause = (ms) => new Promise((resolve) => AbortSignal.timeout(ms).addEventListener('abort', resolve));
  await Promise.race([Promise.all([frame().then(frame), pause(${MIN_LOOK_MS})]), pause(${MAX_LOOK_MS})]);
  let loading = 0;
  for (const image of state.shown) {
    if (image.complete) state.shown.delete(image);
    else if (image.isConnected) loading += 1;
  }
  const root = Reflect.get(Document.prototype, 'scrollingElement', document) ??
    Reflect.get(Document.prototype, 'documentElement', document);
  const running = Document.prototype.getAnimations.call(document);
  return {
    height: root ? root.scrollHeight : 0,
    window: Math.max(1, innerHeight),
    elements: Document.prototype.getElementsByTagName.call(document, '*').length,
    loading,
    moving: running.filter((each) => each instanceof CSSTransition && each.playState === 'running').length,
  };
}`;
