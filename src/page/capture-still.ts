import { type Deadline, within } from '../capture/deadline.ts';
import { screenshotFields } from '../capture/options/screenshot.ts';
import { waitFields } from '../capture/options/wait.ts';
import { type CaptureRequest, DEFAULT_REQUEST } from '../capture/request.ts';
import { CdpError } from '../cdp/connection.ts';
import { evaluate, unblocked } from './asking/ask-page.ts';
import { type Call, call } from './asking/page-scripts.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { documentFacts, observed } from './observe-document.ts';
import type { RunningCapture, Taken } from './running-capture.ts';
import { takeScreenshot } from './screenshot/take-screenshot.ts';
import { MAX_SETTLE_MS } from './wait/await-settled.ts';

/** Maximum time for a loaded page to decode its images and draw two frames. A page that needs longer is not still. */
const MAX_LOOK_MS = 2_000;
/** Maximum time to confirm after the screenshot that the page is still. */
const MAX_ANSWER_MS = 500;

/**
 * Options of the screenshot that neither change the page nor delay the capture. Full pages and PDFs are checked apart.
 */
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
 * page, only if it fits the window.
 */
function mayBeStill({ page, request, deadline }: RunningCapture): boolean {
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
export async function captureStill(capture: RunningCapture): Promise<Taken | undefined> {
  const { page, request, plan, deadline } = capture;
  const { document } = page.frame;
  if (document === null || !mayBeStill(capture)) return undefined;
  deadline.enter('settle');
  if (request.fullPage && !((await fitsWindow(page, request, deadline)) && hasTime(deadline))) return undefined;
  let { started } = page.requests;
  const isStill = () =>
    page.requests.count === 0 &&
    page.requests.started === started &&
    !page.frames.downloads.hasNew &&
    page.frame.document === document &&
    page.frame.rests('load');
  const look = async () => {
    const asked = call('lookStill', MAX_LOOK_MS, MAX_SETTLE_MS, request.fullPage);
    const looking = within(MAX_LOOK_MS, evaluate(page, asked, { mayThrow: true }), undefined);
    return observed.safeParse(await deadline.step('look at the page', looking));
  };
  let seen = await look();
  // Lazy images in the window are requested with the first frames; the second look waits until they are decoded.
  if (seen.success && page.requests.count === 0 && page.requests.started > started) {
    started = page.requests.started;
    seen = await look();
  }
  if (!seen.success || !isStill()) return undefined;
  const ask = (part: Call) => unblocked(page, deadline, evaluate(page, part, { mayThrow: true }));
  const facts = await deadline.step('read the document', documentFacts(seen.data, document.mimeType, ask));
  if (facts === undefined) return undefined;
  deadline.enter('picture');
  const quiet = evaluate(page, call('stayedStill'));
  // Rejects only when the page fails, and then the screenshot rejects as well.
  quiet.catch(() => undefined);
  const screenshot = await takeScreenshot(page, plan, deadline);
  const taken: Taken = { facts, screenshot, cutPhase: null };
  // The page's scripts are off by now, so `quiet` would not resolve.
  if (screenshot.isPartial) return taken;
  const stayedQuiet = await deadline.step('settle', within(MAX_ANSWER_MS, quiet, undefined));
  return stayedQuiet === true && isStill() ? taken : undefined;
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
