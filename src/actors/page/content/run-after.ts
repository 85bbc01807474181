import { CdpError } from '../../cdp/connection.ts';
import { type Deadline, within } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { scriptFailed } from './add-scripts.ts';

/** Fails, without harm, where the page names the policies that it allows and `default` is not among them. */
const TAKE_STRINGS = `try {
  const same = (text) => text;
  trustedTypes.createPolicy('default', { createHTML: same, createScript: same, createScriptURL: same });
} catch {}`;

/**
 * Runs a script in the page as if it were the page's own, and awaits the promise that it gives. Resolves with whether
 * it came to its end while there was time to wait, which it also did when it sent the page on. Throws `script_failed`.
 */
export async function runAfter(page: IsolatedPage, expression: string, deadline: Deadline): Promise<boolean> {
  const { waitingMs } = deadline;
  if (waitingMs === 0) return false;
  try {
    // Pages that require trusted types refuse strings for `innerHTML` and the like, from this script too.
    page.session.post('Runtime.evaluate', { expression: TAKE_STRINGS, timeout: waitingMs });
    // One that never lets go of the page is ended by `timeout`, one whose promise never settles is left behind.
    const run = page.session.send('Runtime.evaluate', { expression, awaitPromise: true, timeout: waitingMs });
    const outcome = await within(waitingMs, run, null);
    if (outcome === null) return false;
    const { exceptionDetails } = outcome;
    if (exceptionDetails === undefined) return true;
    const { exception, text } = exceptionDetails;
    const value = exception?.value === undefined ? text : `${text} ${String(exception.value)}`;
    throw scriptFailed('after', exception?.description ?? value);
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
    // It was ended, or its document went.
    return deadline.waitingMs > 0;
  }
}
