import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CapturePhase } from '../capture/phases.ts';
import { type CaptureRequest, showsMoreThanWindow } from '../capture/request.ts';
import type { Snapshot } from '../capture/snapshot.ts';
import type { EgressProxy } from '../egress/egress.ts';
import { changePage } from '../page/content/change-page.ts';
import { withEvidence } from '../page/evidence/with-evidence.ts';
import { holdStill } from '../page/hold-still.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { awaitLoad, loadMilestone, navigate } from '../page/navigate.ts';
import { type DocumentFacts, observeDocument } from '../page/observe-document.ts';
import { refuseUnwanted } from '../page/refuse-unwanted.ts';
import { type Found, salvage } from '../page/salvage.ts';
import { loadLazyContent } from '../page/screenshot/load-lazy-content.ts';
import type { Picture } from '../page/screenshot/picture.ts';
import { resizeImage, withoutLoss } from '../page/screenshot/resize-image.ts';
import { takeScreenshot } from '../page/screenshot/take-screenshot.ts';
import { awaitDelay, awaitReady } from '../page/wait/await-ready.ts';
import { captureStill } from '../page/wait/capture-still.ts';
import { demandPaint } from '../page/wait/demand-paint.ts';
import { mapElements } from '../reading/elements/map-elements.ts';
import { makeOutputs } from '../reading/outputs/make-outputs.ts';
import { judgePage } from '../reading/verdict/judge-page.ts';

/** Maximum number of redirects by script or refresh; a page that goes on redirecting is stopped, and captured there. */
const MAX_DOCUMENTS = 20;

/** A capture and its cleanup: `disposed` resolves when the browser has released everything of the capture. */
export interface PageCapture {
  readonly snapshot: Promise<Snapshot>;
  readonly disposed: Promise<void>;
}

/**
 * Performs one capture, step by step, on a page of its own, which is always disposed of. The signal of `open` is
 * aborted when the capture ends before the page is open.
 */
export function capturePage(
  open: (over: AbortSignal) => Promise<IsolatedPage>,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
): PageCapture {
  const over = new AbortController();
  const opening = open(over.signal);
  let fetchedUrl = request.target.url;
  const onFetch = (url: string): void => {
    fetchedUrl = url;
  };
  const snapshot = deadline.step('open a page', opening).then((page) =>
    // Chromium sends no answers for a crashed page, so anything awaited from it would never arrive.
    Promise.race([look(page, egressProxy, request, deadline, onFetch), page.frame.ended()]).catch((error: unknown) => {
      throw withEvidence(error, page.notes.soFar, fetchedUrl);
    }),
  );
  const disposed = snapshot
    .then(async () => {
      const { keep, dispose } = await opening;
      await (keep ?? dispose)();
    })
    .catch(async () => {
      over.abort();
      await (await opening).dispose();
    })
    // A page that could not be opened needs no disposal.
    .catch(() => undefined);
  return { snapshot, disposed };
}

async function look(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
  onFetch: (url: string) => void,
): Promise<Snapshot> {
  deadline.enter('navigate');
  const { url, standIn } = await navigate(page, egressProxy, request, deadline, onFetch);
  const found: Found = {};
  const taking = takePicture(page, egressProxy, request, deadline, found);
  const { facts, cutPhase, picture } = await Promise.race([taking, salvage(page, request, deadline, found)]);
  const { signs, ...document } = facts;
  const { held, part: _part, ...image } = picture;
  deadline.enter('evidence');
  const [evidence, elements] = await Promise.all([
    page.notes.gather(page.frame.id, deadline),
    mapElements(page, request, deadline, picture),
  ]);
  const outputs = await makeOutputs(page, request, deadline, picture);
  const exceeded = egressProxy.exceeded();
  return {
    url,
    ...document,
    ...standIn,
    ...image,
    truncated: image.truncatedBy !== '',
    outputs,
    elements,
    cutPhase: cutPhase ?? (held ? 'picture' : exceeded.length > 0 ? 'load' : null),
    timings: deadline.timings,
    banner: page.visit.banner,
    verdict: standIn === null && signs !== null ? await judgePage(page, signs, document, picture, deadline) : null,
    remoteIp: URL.canParse(facts.finalUrl) ? egressProxy.addressFor(new URL(facts.finalUrl)) : null,
    evidence: exceeded.length > 0 ? { ...evidence, exceeded } : evidence,
  };
}

/** Adds the parts of the capture to `found` as they become known, and resolves with all of them. */
async function takePicture(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
  found: Found,
): Promise<RestingPlace & { readonly picture: Picture }> {
  const shown = withoutLoss(request);
  const { facts, cutPhase, picture: taken } = await awaitDocument(page, egressProxy, shown, deadline);
  found.facts = facts;
  found.cutPhase = cutPhase;
  if (cutPhase !== null) await demandPaint(page, request, deadline);
  await refuseUnwanted(page, request, facts, deadline);
  deadline.enter('picture');
  const whole = taken ?? (await takeScreenshot(page, shown, deadline));
  const picture = await deadline.step('resize the image', resizeImage(whole, request));
  found.picture = picture;
  return { facts, cutPhase, picture };
}

interface RestingPlace {
  readonly facts: Omit<DocumentFacts, 'interrupted'>;
  readonly cutPhase: CapturePhase | null;
  /** The screenshot, when it has been taken already. */
  readonly picture?: Picture;
}

/** Returns the document on which the page comes to rest after redirects by script or by refresh. */
async function awaitDocument(
  page: IsolatedPage,
  egressProxy: EgressProxy,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<RestingPlace> {
  let toAct = page.interaction !== undefined;
  let acted = true;
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    deadline.enter('load');
    const loaded = await awaitLoad(page, egressProxy, request, deadline);
    const { document } = page.frame;
    const changed = await changePage(page, request, deadline);
    if (toAct) {
      toAct = false;
      deadline.enter('interact');
      acted = (await page.interaction?.act(request, deadline)) ?? true;
      // The script may have navigated the page.
      continue;
    }
    const still = loaded && changed && acted ? await captureStill(page, request, deadline) : undefined;
    // The screenshot must show the document that was changed.
    const isSame = () => page.visit.changed.size === 0 || page.frame.document === document;
    if (still !== undefined && isSame()) return { ...still, cutPhase: null };
    deadline.enter('wait');
    const ready = await awaitReady(page, request, deadline);
    deadline.enter('settle');
    const complete = await loadLazyContent(page, request, deadline);
    const came = ready && (await awaitDelay(page, request, deadline));
    const beyondWindow = showsMoreThanWindow(request);
    let seen = await observeDocument(page, deadline, { loaded, beyondWindow });
    const rested = !loaded || (page.frame.rests(loadMilestone(request)) && isSame());
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
