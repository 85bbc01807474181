import { CapstanError } from '../capture/errors.ts';
import { BROWSER_PHASES, type CapturePhase } from '../capture/phases.ts';
import { captureStill } from './capture-still.ts';
import { changePage } from './content/change-page.ts';
import type { MainFrame } from './frames/main-frame.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { awaitLoad, refuseDeadUrl } from './loading/await-load.ts';
import { holdStill } from './loading/hold-still.ts';
import { showEmbeddedPdfs, showFramedPdfs } from './non-html/framed-pdfs.ts';
import { type DocumentFacts, observeDocument } from './observe-document.ts';
import { refuseUnwanted } from './refuse-unwanted.ts';
import type { RunningCapture, Taken } from './running-capture.ts';
import { loadLazyContent } from './screenshot/load-lazy-content.ts';
import { resizeImage } from './screenshot/resize-image.ts';
import { takeScreenshot } from './screenshot/take-screenshot.ts';
import { awaitDelay, awaitReady } from './wait/await-ready.ts';
import { demandPaint } from './wait/demand-paint.ts';

/** Maximum number of redirects by script or refresh; a page that goes on redirecting is stopped, and captured there. */
const MAX_DOCUMENTS = 20;

/** One document of the page, and its phases that the end of the waiting time cut short: each step adds its own. */
interface Visited {
  readonly document: MainFrame['document'];
  readonly cut: Set<CapturePhase>;
}

/**
 * Captures the document on which the page comes to rest, after its redirects by script or by refresh. Performs the
 * actions on the first document. Then loads and changes each document, and captures the one that stays: at once if it
 * is still, otherwise when it has settled.
 */
export async function captureAtRest(capture: RunningCapture): Promise<Taken> {
  const acted = await performActions(capture);
  for (let documents = acted.documents + 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const visited = await loadAndChange(capture, acted.cut);
    const isLast = documents === MAX_DOCUMENTS;
    const taken = (await captureAtOnce(capture, visited)) ?? (await captureSettled(capture, visited, isLast));
    if (taken !== undefined) return taken;
  }
  throw new CapstanError('target_unreachable', `the page navigated more than ${MAX_DOCUMENTS} times`);
}

/**
 * Performs the actions of the request on the first document, which is loaded and changed again afterwards: they may
 * have navigated the page. Resolves with the number of documents that this took, and the phases that were cut short.
 */
async function performActions(
  capture: RunningCapture,
): Promise<{ readonly documents: number; readonly cut: readonly CapturePhase[] }> {
  const { page, request, deadline } = capture;
  if (page.interaction === undefined) return { documents: 0, cut: [] };
  await loadAndChange(capture, []);
  deadline.enter('interact');
  return { documents: 1, cut: (await page.interaction.act(request, deadline)) ? [] : ['interact'] };
}

/** `cutBefore`: phases that were cut short before this document. */
async function loadAndChange(
  { page, request, deadline }: RunningCapture,
  cutBefore: readonly CapturePhase[],
): Promise<Visited> {
  const cut = new Set(cutBefore);
  deadline.enter('load');
  if (!((await awaitLoad(page, request, deadline)) && (await showFramedPdfs(page, deadline)))) cut.add('load');
  const { document } = page.frame;
  if (!(await changePage(page, request, deadline))) cut.add('interact');
  return { document, cut };
}

/** Captures a loaded document. Resolves with undefined when it changed meanwhile, or was cut short. */
async function captureAtOnce(capture: RunningCapture, visited: Visited): Promise<Taken | undefined> {
  const { page, request, deadline, found } = capture;
  const taken = visited.cut.size === 0 ? await captureStill(capture) : undefined;
  if (taken === undefined || !showsChanged(page, visited)) return undefined;
  found.facts = taken.facts;
  found.cutPhase = null;
  await refuseUnwanted(page, request, taken.facts, deadline);
  return resized(capture, taken);
}

/** Captures a document after the waits of the request. Resolves with undefined when it is not the last one. */
async function captureSettled(capture: RunningCapture, visited: Visited, isLast: boolean): Promise<Taken | undefined> {
  const { page, request, plan, deadline, found } = capture;
  await awaitContent(capture, visited);
  const read = await readAtRest(capture, visited, isLast);
  if (read === undefined) return undefined;
  found.facts = read.facts;
  found.cutPhase = read.cutPhase;
  if (read.cutPhase !== null) await demandPaint(page, plan, deadline);
  await refuseUnwanted(page, request, read.facts, deadline);
  deadline.enter('picture');
  return resized(capture, { ...read, screenshot: await takeScreenshot(page, plan, deadline) });
}

async function resized({ plan, deadline, found }: RunningCapture, taken: Taken): Promise<Taken> {
  const screenshot = await deadline.step('resize the image', resizeImage(taken.screenshot, plan));
  found.screenshot = screenshot;
  return { ...taken, screenshot };
}

/** Waits for everything that the request names, and for content that loads only in the window. */
async function awaitContent({ page, request, plan, deadline }: RunningCapture, { cut }: Visited): Promise<void> {
  deadline.enter('wait');
  const isReady =
    (cut.has('load') || (await showEmbeddedPdfs(page, deadline))) &&
    (await awaitReady(page, request, deadline)) &&
    // Frames may have come meanwhile.
    (await showFramedPdfs(page, deadline));
  deadline.enter('settle');
  if (!(await loadLazyContent(page, plan, deadline))) cut.add('settle');
  if (!(isReady && (await awaitDelay(page, request, deadline)))) cut.add('wait');
}

/**
 * Reads the document. Resolves with undefined when another one has come or is on its way. The last document, and one
 * whose waiting time is over, is stopped instead, and read then.
 */
async function readAtRest(
  { page, request, plan, deadline }: RunningCapture,
  visited: Visited,
  isLast: boolean,
): Promise<Omit<Taken, 'screenshot'> | undefined> {
  const { cut } = visited;
  const observe = (loaded: boolean) =>
    observeDocument(page, deadline, { loaded, beyondWindow: plan.shown.what !== 'window' });
  const atRest = (facts: DocumentFacts) => {
    refuseDeadUrl(page, request);
    return { facts, cutPhase: BROWSER_PHASES.find((phase) => cut.has(phase)) ?? null };
  };
  const seen = await observe(!cut.has('load'));
  const rests = cut.has('load') || (page.frame.rests(plan.milestone) && showsChanged(page, visited));
  if (seen?.interrupted) cut.add('settle');
  if (seen !== undefined && rests) return atRest(seen.facts);
  if (!isLast && deadline.waitingMs > 0) return undefined;
  cut.add('settle');
  await holdStill(page, deadline);
  const stopped = (await observe(false)) ?? seen;
  return stopped && atRest(stopped.facts);
}

/** Returns whether the page still shows the document that was changed, where the request asks for changes. */
function showsChanged({ frame, visit }: IsolatedPage, { document }: Visited): boolean {
  return visit.changed.size === 0 || frame.document === document;
}
