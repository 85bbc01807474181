import { type Deadline, within } from '../../capture/deadline.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum time for the last document to load, in milliseconds, and its share of the time that is left. */
const MAX_LOAD_MS = 1_000;
const LOAD_SHARE = 0.2;

/** Ends scripts and loading, so that a page that keeps navigating stays on one document. */
export async function holdStill(page: IsolatedPage, deadline: Deadline): Promise<void> {
  const { session, frame } = page;
  const loadMs = Math.min(MAX_LOAD_MS, deadline.remainingMs * LOAD_SHARE);
  const wait = (work: Promise<unknown>) => deadline.step('stop the page', within(loadMs, work, undefined));
  session.post('Emulation.setScriptExecutionDisabled', { value: true });
  // A document that is stopped before its first element is never drawn, so the one that is on its way may load.
  await wait(frame.until(() => frame.rests('load')));
  session.post('Page.stopLoading');
  const { document } = frame;
  if ((await wait(evaluate(page, call('canBeDrawn')))) !== false) return;
  session.post('Page.reload');
  await wait(frame.until(() => frame.document !== document && frame.rests('load')));
  session.post('Page.stopLoading');
}
