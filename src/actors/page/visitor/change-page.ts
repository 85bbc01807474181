import type { CaptureRequest } from '../../../capture-request.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { keepSheet, STYLE_WORLD } from './add-scripts.ts';
import { answerBanner } from './answer-banner.ts';
import { runAfter } from './run-after.ts';

/**
 * Does to a document that has loaded what the request wants done, once to each. Resolves with whether all of it was
 * done while there was time to wait; throws `script_failed`.
 */
export async function changePage(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { css, cookieBanners, javascript } = request;
  const isWanted = (css ?? cookieBanners ?? javascript?.after) !== undefined;
  const document = page.frame.document?.loaderId;
  if (!isWanted || document === undefined) return true;
  const done = page.visit.changed.get(document) ?? (await change(page, request, deadline));
  page.visit.changed.set(document, done);
  return done;
}

async function change(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { css, cookieBanners, javascript } = request;
  deadline.enter('interact');
  if (css !== undefined) await deadline.step('add the style sheet', keepStyle(page, css));
  const answered = cookieBanners === undefined || (await answerBanner(page, cookieBanners, deadline));
  const ran = javascript?.after === undefined || (await runAfter(page, javascript.after, deadline));
  return answered && ran;
}

async function keepStyle({ session, frame }: IsolatedPage, css: string): Promise<void> {
  try {
    const world = { frameId: frame.id, worldName: STYLE_WORLD };
    const { executionContextId } = await session.send('Page.createIsolatedWorld', world);
    await session.send('Runtime.evaluate', { expression: keepSheet(css), contextId: executionContextId });
  } catch (error) {
    // The document went, and the next one has the sheet from its beginning.
    if (!(error instanceof CdpError)) throw error;
  }
}
