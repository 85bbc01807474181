import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { EgressProxy } from '../egress/egress.ts';
import { changePage } from './content/change-page.ts';
import { holdStill } from './hold-still.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { awaitLoad } from './navigate.ts';
import { showEmbeddedPdfs, showFramedPdfs } from './non-html/framed-pdfs.ts';
import { type DocumentFacts, observeDocument } from './observe-document.ts';
import { loadLazyContent } from './screenshot/load-lazy-content.ts';
import type { Picture } from './screenshot/picture.ts';
import type { ShotPlan } from './screenshot/shot-plan.ts';
import { awaitDelay, awaitReady } from './wait/await-ready.ts';
import { captureStill } from './wait/capture-still.ts';

/** Maximum number of redirects by script or refresh; a page that goes on redirecting is stopped, and captured there. */
const MAX_DOCUMENTS = 20;

/** A document at rest, and the phase that the deadline cut short, if any. */
export interface AtRest {
  readonly facts: Omit<DocumentFacts, 'interrupted'>;
  readonly cutPhase: CapturePhase | null;
  /** The screenshot, when it has been taken already. */
  readonly picture?: Picture;
}

/**
 * Waits until the page has come to rest, on the document to which it redirected last, by script or by refresh: loads,
 * changes and acts, waits, and reads each document until one stays.
 */
export async function comeToRest(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
): Promise<AtRest> {
  let toAct = page.interaction !== undefined;
  let acted = true;
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    deadline.enter('load');
    const loaded = (await awaitLoad(page, egressProxy, request, deadline)) && (await showFramedPdfs(page, deadline));
    const { document } = page.frame;
    const changed = await changePage(page, request, deadline);
    if (toAct) {
      toAct = false;
      deadline.enter('interact');
      acted = (await page.interaction?.act(request, deadline)) ?? true;
      // The script may have navigated the page.
      continue;
    }
    const still = loaded && changed && acted ? await captureStill(page, request, plan, deadline) : undefined;
    // The screenshot must show the document that was changed.
    const isSame = () => page.visit.changed.size === 0 || page.frame.document === document;
    if (still !== undefined && isSame()) return { ...still, cutPhase: null };
    deadline.enter('wait');
    const embedded = !loaded || (await showEmbeddedPdfs(page, deadline));
    // Frames may have come meanwhile.
    const ready = embedded && (await awaitReady(page, request, deadline)) && (await showFramedPdfs(page, deadline));
    deadline.enter('settle');
    const complete = await loadLazyContent(page, plan, deadline);
    const came = ready && (await awaitDelay(page, request, deadline));
    const beyondWindow = plan.shown.what !== 'window';
    let seen = await observeDocument(page, deadline, { loaded, beyondWindow });
    const rested = !loaded || (page.frame.rests(plan.milestone) && isSame());
    const isLast = documents === MAX_DOCUMENTS || deadline.waitingMs === 0;
    const held = isLast && (seen === undefined || !rested);
    if (held) {
      await holdStill(page, deadline);
      seen = (await observeDocument(page, deadline, { loaded: false, beyondWindow })) ?? seen;
    }
    if (seen === undefined || !(rested || isLast)) continue;
    const { interrupted, ...facts } = seen;
    const settled = complete && !interrupted && !held;
    const cutPhase = !loaded ? 'load' : !changed || !acted ? 'interact' : !came ? 'wait' : !settled ? 'settle' : null;
    return { facts, cutPhase };
  }
  throw new CapstanError('target_unreachable', `the page navigated more than ${MAX_DOCUMENTS} times`);
}
