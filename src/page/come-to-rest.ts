import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import { BROWSER_PHASES, type CapturePhase } from '../capture/phases.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { captureStill } from './capture-still.ts';
import { changePage } from './content/change-page.ts';
import type { MainFrame } from './frames/main-frame.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { awaitLoad, refuseDeadUrl } from './loading/await-load.ts';
import { holdStill } from './loading/hold-still.ts';
import { showEmbeddedPdfs, showFramedPdfs } from './non-html/framed-pdfs.ts';
import { type DocumentFacts, observeDocument } from './observe-document.ts';
import { loadLazyContent } from './screenshot/load-lazy-content.ts';
import type { ShotPlan } from './screenshot/shot-plan.ts';
import type { Taken } from './taken.ts';
import { awaitDelay, awaitReady } from './wait/await-ready.ts';

/** Maximum number of redirects by script or refresh; a page that goes on redirecting is stopped, and captured there. */
const MAX_DOCUMENTS = 20;

/** A document at rest. It has a screenshot when one was taken already. */
type AtRest = Omit<Taken, 'picture'> & Partial<Taken>;

/** One document of the page, and its phases that the end of the waiting time cut short: each step adds its own. */
interface Visited {
  readonly document: MainFrame['document'];
  readonly cut: Set<CapturePhase>;
}

/**
 * Waits until the page has come to rest, on the document to which it redirected last, by script or by refresh: performs
 * the actions on the first document, then loads, changes, waits for and reads each document until one stays.
 */
export async function comeToRest(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
): Promise<AtRest> {
  const acted = await performActions(page, request, deadline);
  for (let documents = acted.documents + 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const visited = await loadAndChange(page, request, deadline, acted.cut);
    const still = visited.cut.size === 0 ? await captureStill(page, request, plan, deadline) : undefined;
    if (still !== undefined && showsChanged(page, visited)) return { ...still, cutPhase: null };
    await awaitContent(page, request, plan, deadline, visited);
    const read = await readAtRest(page, request, plan, deadline, visited, documents === MAX_DOCUMENTS);
    if (read !== 'again') return read;
  }
  throw new CapstanError('target_unreachable', `the page navigated more than ${MAX_DOCUMENTS} times`);
}

/**
 * Performs the actions of the request on the first document, which is loaded and changed again afterwards: they may
 * have navigated the page. Resolves with the number of documents that this took, and the phases that were cut short.
 */
async function performActions(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<{ readonly documents: number; readonly cut: readonly CapturePhase[] }> {
  const { interaction } = page;
  if (interaction === undefined) return { documents: 0, cut: [] };
  await loadAndChange(page, request, deadline, []);
  deadline.enter('interact');
  return { documents: 1, cut: (await interaction.act(request, deadline)) ? [] : ['interact'] };
}

/** `cutBefore`: phases that were cut short before this document. */
async function loadAndChange(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  cutBefore: readonly CapturePhase[],
): Promise<Visited> {
  const cut = new Set(cutBefore);
  deadline.enter('load');
  if (!((await awaitLoad(page, request, deadline)) && (await showFramedPdfs(page, deadline)))) cut.add('load');
  const { document } = page.frame;
  if (!(await changePage(page, request, deadline))) cut.add('interact');
  return { document, cut };
}

/** Waits for everything that the request names, and for content that loads only in the window. */
async function awaitContent(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
  { cut }: Visited,
): Promise<void> {
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
 * Reads the document. Resolves with 'again' when another one has come or is on its way. The last document, and one
 * whose waiting time is over, is stopped instead, and read then.
 */
async function readAtRest(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
  visited: Visited,
  isLast: boolean,
): Promise<AtRest | 'again'> {
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
  if (!isLast && deadline.waitingMs > 0) return 'again';
  cut.add('settle');
  await holdStill(page, deadline);
  const held = (await observe(false)) ?? seen;
  return held === undefined ? 'again' : atRest(held.facts);
}

/** Returns whether the page still shows the document that was changed, where the request asks for changes. */
function showsChanged({ frame, visit }: IsolatedPage, { document }: Visited): boolean {
  return visit.changed.size === 0 || frame.document === document;
}
