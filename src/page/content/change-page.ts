import { type Deadline, within } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { STYLE_WORLD } from './add-scripts.ts';
import { answerBanner } from './answer-banner.ts';
import { runAfter } from './run-after.ts';

/**
 * Applies the request's changes to a loaded document, each once. Resolves with whether all were done within the waiting
 * time. Throws `script_failed` when a script of the request fails.
 */
export async function changePage(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { css, cookieBanners, javascript } = request;
  const isWanted = (css ?? cookieBanners ?? javascript?.after) !== undefined;
  const document = page.frame.document?.loaderId;
  if (!isWanted || document === undefined) return true;
  const known = page.visit.changed.get(document);
  if (known !== undefined) return known;
  deadline.enter('interact');
  const changing = within(patienceMs(deadline), change(page, request, deadline), false);
  const done = await deadline.step('change the page', changing);
  page.visit.changed.set(document, done);
  return done;
}

/** A page that did not load in time still gets its style sheet. */
function patienceMs({ waitingMs, remainingMs }: Deadline): number {
  return Math.max(waitingMs, remainingMs / 2);
}

async function change(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { css, cookieBanners, javascript } = request;
  const styled = css === undefined || (await styleInTime(page, css, deadline));
  const answered = cookieBanners === undefined || (await answerBanner(page, cookieBanners, deadline));
  const ran = javascript?.after === undefined || (await runAfter(page, javascript.after, deadline));
  return styled && answered && ran;
}

/** Adds the style sheet. Terminates a script that blocks the page for half the time, and then resolves with false. */
async function styleInTime(page: IsolatedPage, css: string, deadline: Deadline): Promise<boolean> {
  // A document that replaces this one has the sheet from its beginning.
  const styling = evaluate(page, call('keepSheet', css), { world: STYLE_WORLD, mayThrow: true }).then(() => true);
  const styled = await within(patienceMs(deadline) / 2, styling, false);
  if (!styled) page.session.post('Runtime.terminateExecution');
  await styling;
  return styled;
}
