import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { MAX_PIXELS } from '../../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { waitWithin } from '../wait/wait-within.ts';
import { askPage, letGo } from './ask-page.ts';
import { maxHeightOf } from './screenshot-size.ts';
import { scrollToElement } from './scroll-to-element.ts';

/** Part of the window that is moved on by, so that nothing lies between two looks. */
const STEP_SHARE = 0.9;
/** Time for observers and scroll handlers to have seen what came into the window. */
const PASS_MS = 75;
/** Looks at the end of a page that does not grow any more, before it is believed to end there. */
const PASSES_AT_END = 4;
/** The largest screenshot takes 2 s, on a machine that does nothing else. */
const SCREENSHOT_MS_PER_PIXEL = 2_000 / MAX_PIXELS;
/** Looks at the top, back again, while a header that was folded away unfolds. */
const MAX_PASSES_AT_TOP = 8;

const seen = z.object({
  /** CSS pixels of the page and of the window. */
  height: z.number(),
  window: z.number(),
  /** Images that were in the window and are not there yet. */
  loading: z.number(),
  /** Transitions under way. */
  moving: z.number(),
});

/** CSS pixels from the top of the page. */
interface Stretch {
  readonly top: number;
  readonly height: number;
}

/**
 * Has a page load what it loads only where somebody looks, as far as the screenshot shows it: it is scrolled through and
 * back to the top. Resolves with whether that was done before no more time was to be spent on waiting. A screenshot of
 * the window needs none of it, nor does a page that is no taller.
 */
export async function loadLazyContent(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<boolean> {
  if (!showsMoreThanWindow(request)) return true;
  const over = new AbortController();
  const mayGoOn = ({ height }: Stretch) =>
    !over.signal.aborted && screenshotMs(height, request) < deadline.remainingMs / 2;
  let complete = false;
  const work = stretchOf(page, request, deadline).then(async (stretch) => {
    complete = stretch === null || (await scrollThrough(page, stretch, deadline, mayGoOn));
  });
  await waitWithin(page, deadline, 'scroll through the page', work).finally(() => over.abort());
  // Taken up when the page takes anything up; what is there is captured meanwhile.
  if (!complete) void look(page, deadline, 0).catch(() => undefined);
  return complete;
}

/** What the screenshot of a part of the page so tall will take. */
function screenshotMs(height: number, request: CaptureRequest): number {
  const { width, deviceScaleFactor } = request.viewport;
  return width * height * deviceScaleFactor ** 2 * SCREENSHOT_MS_PER_PIXEL;
}

function showsMoreThanWindow({ fullPage, selector, clip, format }: CaptureRequest): boolean {
  return fullPage || selector !== undefined || clip !== undefined || format === 'pdf';
}

/** The part of the page that the screenshot shows, as far as the cap; null when all of it is in the window. */
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

/** Resolves with whether it came to the end, also to that of the stretch, and back, while it might go on. */
async function scrollThrough(
  page: IsolatedPage,
  stretch: Stretch,
  deadline: Deadline,
  mayGoOn: (sofar: Stretch) => boolean,
): Promise<boolean> {
  const { top } = stretch;
  const end = top + stretch.height;
  let y = top;
  let known = 0;
  for (let quiet = 0; quiet < PASSES_AT_END; ) {
    const now = await look(page, deadline, y);
    if (now === undefined) return true;
    if (!mayGoOn({ top, height: Math.min(end, now.height) - top })) return false;
    const isEnd = y + now.window >= Math.min(end, now.height);
    // What goes on to grow behind the end of the stretch is not waited for.
    const grows = now.height < end && now.height !== known;
    quiet = isEnd && !grows && now.loading === 0 ? quiet + 1 : 0;
    known = now.height;
    if (!isEnd) y += now.window * STEP_SHARE;
    await delay(PASS_MS);
  }
  for (let looks = 0; looks < MAX_PASSES_AT_TOP; looks += 1) {
    const now = await look(page, deadline, 0);
    await delay(PASS_MS);
    if (now === undefined || (looks > 0 && now.moving === 0)) break;
  }
  return true;
}

/** Shows the page from `y` on, and says what is to be seen there. Undefined when the document went. */
async function look(page: IsolatedPage, deadline: Deadline, y: number): Promise<z.infer<typeof seen> | undefined> {
  const value = await askPage(page, deadline, 'scroll through the page', `(${LOOK})(${y})`);
  return value === undefined ? undefined : seen.parse(value);
}

/**
 * Runs in the page. An image is waited for when it was in the window: one that is folded away or out of a carousel's
 * frame may never load.
 */
const LOOK = `(y) => {
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
  let loading = 0;
  for (const image of state.shown) {
    if (image.complete) state.shown.delete(image);
    else if (image.isConnected) loading += 1;
  }
  scrollTo({ top: y, left: 0, behavior: 'instant' });
  const root = Reflect.get(Document.prototype, 'scrollingElement', document) ??
    Reflect.get(Document.prototype, 'documentElement', document);
  const running = Document.prototype.getAnimations.call(document);
  return {
    height: root ? root.scrollHeight : 0,
    window: Math.max(1, innerHeight),
    loading,
    moving: running.filter((each) => each instanceof CSSTransition && each.playState === 'running').length,
  };
}`;
