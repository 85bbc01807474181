import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import { comeToRest } from '../page/come-to-rest.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { navigate } from '../page/loading/navigate.ts';
import { refuseUnwanted } from '../page/refuse-unwanted.ts';
import { type Found, salvage } from '../page/salvage.ts';
import { resizeImage } from '../page/screenshot/resize-image.ts';
import { planShot, type ShotPlan } from '../page/screenshot/shot-plan.ts';
import { takeScreenshot } from '../page/screenshot/take-screenshot.ts';
import type { Taken } from '../page/taken.ts';
import { demandPaint } from '../page/wait/demand-paint.ts';
import { mapElements } from '../reading/elements/map-elements.ts';
import { readHostFacts } from '../reading/host/host-facts.ts';
import { softwareSigns } from '../reading/host/software-signs.ts';
import { makeOutputs } from '../reading/outputs/make-outputs.ts';
import { judgePage } from '../reading/verdict/judge-page.ts';
import { readPageWords } from '../reading/words/read-page-words.ts';

/*
 * One capture on one page. Its steps, in the order in which they are performed, by the phases that `timings` names:
 *
 * | phase    | step                                                               | in             | until        |
 * |----------|--------------------------------------------------------------------|----------------|--------------|
 * | open     | open a page in a context of its own, set up before its first script | `open`         | deadline     |
 * | navigate | open the URL, or the one over http where https was assumed         | `navigate`     | deadline     |
 * | load     | wait until the document has loaded, again after each redirect      | `comeToRest`   | waiting time |
 * | interact | style sheet, cookie banner, scripts, actions, form                 | `comeToRest`   | waiting time |
 * | wait     | for a selector, a function, the network, a delay                   | `comeToRest`   | waiting time |
 * | settle   | until nothing changes; scroll through what is shown; read it       | `comeToRest`   | waiting time |
 * |          | refuse an unwanted status or text                                  | `takePicture`  | deadline     |
 * | picture  | hide and mask; shoot; resize                                       | `takePicture`  | deadline     |
 * | evidence | evidence, element map, outputs, words, verdict                     | `performSteps` | deadline     |
 *
 * With default options, the screenshot is usually taken earlier: when the page has loaded, `comeToRest` calls
 * `captureStill`, which reads the page and takes the screenshot. If nothing changed meanwhile, the phase `wait` is
 * skipped, and `takePicture` only refuses, in the phase `picture`, and resizes.
 *
 * The deadline is the request's `timeoutMs`. The waiting time ends before it: a fifth of it, from 1 to 5 s and at most
 * half, is kept for the screenshot (`src/capture/deadline.ts`). A step that is cut then makes the capture partial.
 */

/** A capture and its cleanup: `disposed` resolves when the browser has released everything of the capture. */
export interface PageCapture {
  readonly snapshot: Promise<Snapshot>;
  readonly disposed: Promise<void>;
}

/**
 * Performs one capture, step by step, on a page of its own, which is always disposed of. The signal of `open` is
 * aborted when the capture ends before the page is open. `indexWords`: whether the words of the page are read.
 */
export function capturePage(
  open: (over: AbortSignal) => Promise<IsolatedPage>,
  request: CaptureRequest,
  deadline: Deadline,
  indexWords: boolean,
): PageCapture {
  const over = new AbortController();
  const opening = open(over.signal);
  const snapshot = deadline.step('open a page', opening).then((page) =>
    // Chromium sends no answers for a crashed page, so anything awaited from it would never arrive.
    Promise.race([performSteps(page, request, deadline, indexWords), page.frame.ended()]).catch((error: unknown) => {
      if (!(error instanceof CapstanError)) throw error;
      const { soFar, statusSoFar } = page.notes;
      throw error.with({ evidence: soFar, fetchedUrl: page.visit.fetchedUrl, responseCode: statusSoFar });
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

async function performSteps(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  indexWords: boolean,
): Promise<Snapshot> {
  const plan = planShot(request);
  deadline.enter('navigate');
  const standIn = await navigate(page, request, deadline);
  const found: Found = {};
  const { facts, cutPhase, picture } = await Promise.race([
    takePicture(page, request, plan, deadline, found),
    // Shortly before the deadline, what is known by then and the last frame of the window take its place.
    salvage(page, request, plan, deadline, found),
  ]);
  const { signs, ...document } = facts;
  const { held, part: _part, ...image } = picture;
  deadline.enter('evidence');
  const [noted, elements] = await Promise.all([
    page.notes.gather(page.frame.id, deadline),
    mapElements(page, request, deadline, picture),
  ]);
  const outputs = await makeOutputs(page, request, deadline, picture);
  const words = indexWords && standIn === null ? await readPageWords(page, request, deadline, picture) : null;
  const exceeded = page.egressProxy.exceeded();
  const { evidence } = noted;
  // The headers of a page that shows a PDF are its own.
  const gathered = standIn === null ? noted : { ...noted, headers: null, chain: [] };
  return {
    url: page.visit.fetchedUrl,
    ...document,
    ...standIn,
    ...image,
    truncated: image.truncatedBy !== '',
    outputs,
    elements,
    words,
    cutPhase: cutPhase ?? (held ? 'picture' : exceeded.length > 0 ? 'load' : null),
    timings: deadline.timings,
    banner: page.visit.banner,
    verdict: standIn === null && signs !== null ? await judgePage(page, signs, document, picture, deadline) : null,
    remoteIp: URL.canParse(facts.finalUrl) ? page.egressProxy.addressFor(new URL(facts.finalUrl)) : null,
    hostFacts: request.html === undefined ? readHostFacts(gathered) : null,
    softwareSigns: softwareSigns(gathered, signs, document),
    evidence: exceeded.length > 0 ? { ...evidence, exceeded } : evidence,
  };
}

/** Waits for the page and takes its picture. Adds the parts of the capture to `found` as they become known. */
async function takePicture(
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
