import { z } from 'zod';
import { type Deadline, within } from '../../capture/deadline.ts';
import { screenshotFields } from '../../capture/options/screenshot.ts';
import { waitFields } from '../../capture/options/wait.ts';
import { type CaptureRequest, DEFAULT_REQUEST } from '../../capture/request.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate, letGo } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { type DocumentFacts, documentFacts, OBSERVE, WITH_SIGNS } from '../observe-document.ts';
import { MAIN_SCROLLER } from '../screenshot/main-scroller.ts';
import type { Picture } from '../screenshot/picture.ts';
import { takeScreenshot } from '../screenshot/take-screenshot.ts';
import { textBeginning } from '../text-in-parts.ts';
import { MAX_SETTLE_MS } from './await-settled.ts';
import { PAUSE } from './pause.ts';
import { WATCH_WORK } from './signs-of-work.ts';
import { QUIET_MS, WATCH_CHANGES } from './watch-changes.ts';

/** Maximum time for a loaded page to decode its images and draw two frames. A page that needs longer is not still. */
const MAX_LOOK_MS = 2_000;
/** Maximum time to confirm after the screenshot that the page is still. */
const MAX_ANSWER_MS = 500;

export interface StillPage {
  readonly facts: Omit<DocumentFacts, 'interrupted'>;
  readonly picture: Picture;
}

/** Options of the screenshot that neither change the page nor delay the capture. Full pages and PDFs are checked apart. */
const HARMLESS: readonly string[] = [
  'fullPage',
  'maxHeight',
  'format',
  'quality',
  'viewport',
  'resize',
  'omitBackground',
] satisfies (keyof typeof screenshotFields)[];
const DECISIVE = Object.keys({ ...waitFields, ...screenshotFields }).filter((name) => !HARMLESS.includes(name));
const DEFAULTS: Readonly<Record<string, unknown>> = DEFAULT_REQUEST;

/**
 * Returns whether the screenshot shows the loaded window unchanged, and can be taken a second time without harm; a full
 * page does so only if it fits the window.
 */
function mayBeStill(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): boolean {
  const given: Readonly<Record<string, unknown>> = request;
  const isPlain = DECISIVE.every((name) => given[name] === DEFAULTS[name]);
  if (!isPlain || request.format === 'pdf' || page.interaction !== undefined) return false;
  return hasTime(deadline);
}

function hasTime({ waitingMs }: Deadline): boolean {
  return waitingMs > MAX_LOOK_MS + MAX_ANSWER_MS;
}

/**
 * Captures a loaded page without waiting until it has settled, and watches it meanwhile. Most pages have settled when
 * they have loaded, so this saves a wait of 100 ms. Returns undefined when the page changed after its load: then the
 * caller waits until it has settled, and captures it again.
 */
export async function captureStill(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<StillPage | undefined> {
  const { document } = page.frame;
  if (document === null || !mayBeStill(page, request, deadline)) return undefined;
  deadline.enter('settle');
  if (request.fullPage && !((await fitsWindow(page, request, deadline)) && hasTime(deadline))) return undefined;
  let { started } = page.requests;
  const isStill = () =>
    page.requests.count === 0 &&
    page.requests.started === started &&
    page.frame.document === document &&
    page.frame.rests('load');
  const look = async () => {
    const looking = within(MAX_LOOK_MS, evaluate(page, `(${LOOK})(${request.fullPage})`), undefined);
    return watched.safeParse(await deadline.step('look at the page', looking));
  };
  let seen = await look();
  // Lazy images in the window are requested with the first frames; the second look waits until they are decoded.
  if (seen.success && page.requests.count === 0 && page.requests.started > started) {
    started = page.requests.started;
    seen = await look();
  }
  if (!seen.success || !isStill()) return undefined;
  const ask = (expression: string) => letGo(page, deadline, evaluate(page, expression));
  const facts = await deadline.step('read the document', documentFacts(seen.data, document.mimeType, ask));
  if (facts === undefined) return undefined;
  deadline.enter('picture');
  const quiet = evaluate(page, `(${AWAIT_QUIET})()`);
  // Rejects only when the page fails, and then the screenshot rejects as well.
  quiet.catch(() => undefined);
  const picture = await takeScreenshot(page, request, deadline);
  // The page's scripts are off by now, so `quiet` would not resolve.
  if (picture.held) return { facts, picture };
  const stayedQuiet = await deadline.step('settle', within(MAX_ANSWER_MS, quiet, undefined));
  return stayedQuiet === true && isStill() ? { facts, picture } : undefined;
}

/** Returns false also for a page that is blocked or replaced. */
async function fitsWindow(page: IsolatedPage, { viewport }: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const measuring = page.session.send('Page.getLayoutMetrics').catch((error: unknown) => {
    if (error instanceof CdpError) return undefined;
    throw error;
  });
  const metrics = await deadline.step('measure the page', within(MAX_LOOK_MS, measuring, undefined));
  if (metrics === undefined) return false;
  const { width, height } = metrics.cssContentSize;
  return width <= viewport.width && height <= viewport.height;
}

/** The value of `LOOK` for a page in which nothing moves. */
const watched = z.looseObject({ document: textBeginning });

/**
 * Runs in the page. Waits until it has drawn, reads the document, and from then on also watches for layout shifts:
 * earlier ones are in the screenshot. Returns null when the document has changed meanwhile, or may change unnoticed, and
 * with `whole` also when there is something to scroll to.
 */
const LOOK = `async (whole) => {
  try {
    const watch = ${WATCH_CHANGES};
    const early = watch([]);
    const seen = await (${OBSERVE})(${MAX_LOOK_MS}, false);
    const isChanging = early.noticed().count > 0;
    const root = Reflect.get(Document.prototype, 'documentElement', document);
    const scrolls = whole && (root === null || root.scrollHeight > innerHeight || (${MAIN_SCROLLER})() !== null);
    early.end();
    const isAnimated = Document.prototype.getAnimations.call(document).some(({ playState }) => playState === 'running');
    const draws = Document.prototype.querySelector.call(document, 'canvas, video, object, embed') !== null;
    globalThis.capstanStill = { beginning: early.beginning, changes: watch(['layout-shift']) };
    const isWorking = isChanging || scrolls || isAnimated || draws || (${WATCH_WORK})()(${MAX_SETTLE_MS});
    return isWorking ? null : (${WITH_SIGNS})(seen);
  } catch {
    return null;
  }
}`;

/** Runs in the page after `LOOK`. Resolves with whether nothing has changed for `QUIET_MS`. */
const AWAIT_QUIET = `() => new Promise((resolve) => {
  // Another document has come since.
  if (globalThis.capstanStill === undefined) return resolve(false);
  const { beginning, changes } = globalThis.capstanStill;
  const left = Math.max(0, beginning + ${QUIET_MS} - performance.now());
  (${PAUSE})(left).then(() => {
    resolve(changes.noticed().count === 0);
    changes.end();
  });
})`;
