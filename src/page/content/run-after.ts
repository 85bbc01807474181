import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { scriptFailed } from './add-scripts.ts';

/**
 * Runs a script as the page's own and awaits the promise that it returns. Resolves with whether it finished within the
 * waiting time; a script that navigates the page counts as finished. Throws `script_failed` when the script fails.
 */
export async function runAfter(page: IsolatedPage, expression: string, deadline: Deadline): Promise<boolean> {
  const { waitingMs } = deadline;
  if (waitingMs === 0) return false;
  try {
    // Pages that require trusted types refuse strings for `innerHTML` and similar sinks, also from this script.
    page.session.post('Runtime.evaluate', { expression: call('takeStrings'), timeout: waitingMs });
    // `timeout` ends a script that never returns; a promise that never settles is abandoned.
    const run = page.session.send('Runtime.evaluate', { expression, awaitPromise: true, timeout: waitingMs });
    const outcome = await within(waitingMs, run, null);
    if (outcome === null) return false;
    const { exceptionDetails } = outcome;
    if (exceptionDetails === undefined) return true;
    const { exception, text } = exceptionDetails;
    const value = exception?.value === undefined ? text : `${text} ${String(exception.value)}`;
    throw scriptFailed('javascript.after', exception?.description ?? value);
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
    // The script was ended, or its document was replaced.
    return deadline.waitingMs > 0;
  }
}
