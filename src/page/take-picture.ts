import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { awaitLoad } from './await-load.ts';
import { changePage } from './content/change-page.ts';
import { holdStill } from './hold-still.ts';
import type { IsolatedPage } from './isolated-page.ts';
import { showEmbeddedPdfs, showFramedPdfs } from './non-html/framed-pdfs.ts';
import { type DocumentFacts, observeDocument } from './observe-document.ts';
import { refuseUnwanted } from './refuse-unwanted.ts';
import { type Found, salvage } from './salvage.ts';
import { loadLazyContent } from './screenshot/load-lazy-content.ts';
import type { Picture } from './screenshot/picture.ts';
import { resizeImage } from './screenshot/resize-image.ts';
import type { ShotPlan } from './screenshot/shot-plan.ts';
import { takeScreenshot } from './screenshot/take-screenshot.ts';
import { awaitDelay, awaitReady } from './wait/await-ready.ts';
import { captureStill } from './wait/capture-still.ts';
import { demandPaint } from './wait/demand-paint.ts';

/** Maximum number of redirects by script or refresh; a page that goes on redirecting is stopped, and captured there. */
const MAX_DOCUMENTS = 20;

/** A document at rest, and the phase that the deadline cut short, if any. */
interface AtRest {
  readonly facts: Omit<DocumentFacts, 'interrupted'>;
  readonly cutPhase: CapturePhase | null;
  /** The screenshot, when it has been taken already. */
  readonly picture?: Picture;
}

type Taken = AtRest & { readonly picture: Picture };

/**
 * Waits for the page and takes its picture. Shortly before the deadline, what is known by then and the last frame of
 * the window take their place.
 */
export function takePicture(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
): Promise<Taken> {
  const found: Found = {};
  const taking = takeAtRest(page, request, plan, deadline, found);
  return Promise.race([taking, salvage(page, request, plan, deadline, found)]);
}

/** Adds the parts of the capture to `found` as they become known, and resolves with all of them. */
async function takeAtRest(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
  found: Found,
): Promise<Taken> {
  const { facts, cutPhase, picture: taken } = await comeToRest(page, request, plan, deadline);
  found.facts = facts;
  found.cutPhase = cutPhase;
  if (cutPhase !== null) await demandPaint(page, plan, deadline);
  await refuseUnwanted(page, request, facts, deadline);
  deadline.enter('picture');
  const whole = taken ?? (await takeScreenshot(page, plan, deadline));
  const picture = await deadline.step('resize the image', resizeImage(whole, plan));
  found.picture = picture;
  return { facts, cutPhase, picture };
}

/**
 * Waits until the page has come to rest, on the document to which it redirected last, by script or by refresh: loads,
 * changes and acts, waits, and reads each document until one stays.
 */
async function comeToRest(
  page: IsolatedPage,
  request: CaptureRequest,
  plan: ShotPlan,
  deadline: Deadline,
): Promise<AtRest> {
  let toAct = page.interaction !== undefined;
  let acted = true;
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    deadline.enter('load');
    const loaded = (await awaitLoad(page, request, deadline)) && (await showFramedPdfs(page, deadline));
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
