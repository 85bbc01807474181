import type { Deadline } from '../capture/deadline.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Snapshot } from '../capture/result/snapshot.ts';
import { captureAtRest } from '../page/capture-at-rest.ts';
import type { IsolatedPage } from '../page/isolated-page.ts';
import { navigate } from '../page/loading/navigate.ts';
import type { RunningCapture } from '../page/running-capture.ts';
import { salvage } from '../page/salvage.ts';
import { planShot } from '../page/screenshot/shot-plan.ts';
import { mapElements } from '../reading/elements/map-elements.ts';
import { readHostFacts } from '../reading/host/host-facts.ts';
import { softwareSigns } from '../reading/host/software-signs.ts';
import { makeOutputs } from '../reading/outputs/make-outputs.ts';
import { judgePage } from '../reading/verdict/judge-page.ts';
import { readPageWords } from '../reading/words/read-page-words.ts';

/*
 * One capture on one page. Its steps, in the order in which they are performed, by the phases that `timings` names:
 *
 * | phase    | step                                                               | in              | until        |
 * |----------|--------------------------------------------------------------------|-----------------|--------------|
 * | open     | open a page in a context of its own, set up before its first script | `open`          | deadline     |
 * | navigate | open the URL, or the one over http where https was assumed         | `navigate`      | deadline     |
 * | load     | wait until the document has loaded, again after each redirect      | `captureAtRest` | waiting time |
 * | interact | style sheet, cookie banner, scripts, actions, form                 | `captureAtRest` | waiting time |
 * | wait     | for a selector, a function, the network, a delay                   | `captureAtRest` | waiting time |
 * | settle   | until nothing changes; scroll through what is shown; read it       | `captureAtRest` | waiting time |
 * |          | refuse an unwanted status or text                                  | `captureAtRest` | deadline     |
 * | picture  | hide and mask; shoot; resize                                       | `captureAtRest` | deadline     |
 * | evidence | evidence, element map, words, outputs, verdict                     | `performSteps`  | deadline     |
 *
 * With default options, the screenshot is usually taken earlier: when the page has loaded, `captureStill` reads it and
 * takes the screenshot. If nothing changed meanwhile, the phase `wait` is skipped.
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
  deadline.enter('navigate');
  const standIn = await navigate(page, request, deadline);
  const capture: RunningCapture = { page, request, plan: planShot(request), deadline, found: {} };
  // Shortly before the deadline, `salvage` returns what is known by then, with the last frame as the screenshot.
  const { facts, cutPhase, screenshot } = await Promise.race([captureAtRest(capture), salvage(capture)]);
  const { signs, ...document } = facts;
  const { isPartial, part: _part, ...image } = screenshot;
  deadline.enter('evidence');
  // At once, so that their commands wake the browser together. Measured: 1.5 ms of CPU less with words.
  const [noted, elements, words] = await Promise.all([
    page.notes.gather(page.frame.id, deadline),
    mapElements(page, request, deadline, screenshot),
    indexWords && standIn === null ? readPageWords(page, request, deadline, screenshot) : null,
  ]);
  const outputs = await makeOutputs(page, request, deadline, screenshot);
  const exceeded = page.egressProxy.exceeded();
  const { evidence } = noted;
  // A PDF is shown by a viewer page, whose headers are not the target's.
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
    cutPhase: cutPhase ?? (isPartial ? 'picture' : exceeded.length > 0 ? 'load' : null),
    timings: deadline.timings,
    banner: page.visit.banner,
    verdict: standIn === null && signs !== null ? await judgePage(page, signs, document, screenshot, deadline) : null,
    remoteIp: URL.canParse(facts.finalUrl) ? page.egressProxy.addressFor(new URL(facts.finalUrl)) : null,
    hostFacts: request.html === undefined ? readHostFacts(gathered) : null,
    softwareSigns: softwareSigns(gathered, signs, document),
    evidence: exceeded.length > 0 ? { ...evidence, exceeded } : evidence,
  };
}
