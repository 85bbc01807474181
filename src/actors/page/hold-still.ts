import { type Deadline, within } from '../deadline.ts';
import type { IsolatedPage } from './isolated-page.ts';

/** Maximum time for the last document to load, in milliseconds. */
const MAX_LOAD_MS = 1_000;

/** Ends scripts and loading, so that a page which navigates again and again keeps a document. */
export async function holdStill({ session, frame }: IsolatedPage, deadline: Deadline): Promise<void> {
  session.post('Emulation.setScriptExecutionDisabled', { value: true });
  // A document that is stopped before its first element is never drawn, so the one that is on its way may load.
  const loaded = frame.until(() => frame.rests('load'));
  await deadline.step('stop the page', within(Math.min(MAX_LOAD_MS, deadline.remainingMs / 4), loaded, undefined));
  session.post('Page.stopLoading');
}
