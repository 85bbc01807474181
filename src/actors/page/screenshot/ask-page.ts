import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../../../capture/errors.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Longest that a script of the page may keep ours from running when the time to wait is over, before it is ended. */
const PATIENCE_MS = 2_000;

/** Documents that are asked the same, of a page that goes on to another one meanwhile. */
const MAX_DOCUMENTS = 5;
const NEXT_DOCUMENT_MS = 50;

/** What `work` gives, which needs the page to let go: a script that does not is ended when its time is over. */
export async function letGo<T>({ session }: IsolatedPage, deadline: Deadline, work: Promise<T>): Promise<T> {
  const endScripts = setTimeout(
    () => session.post('Runtime.terminateExecution'),
    Math.max(deadline.waitingMs, Math.min(PATIENCE_MS, deadline.remainingMs / 2)),
  );
  try {
    return await work;
  } finally {
    clearTimeout(endScripts);
  }
}

/**
 * What a JavaScript expression gives in the page's document, in a world of its own where the page's scripts cannot
 * change what it calls; it finds what an earlier one has left there. A promise is not awaited: a page can clear the
 * timers of its document. Undefined when the document went meanwhile.
 */
export async function askPage(
  page: IsolatedPage,
  deadline: Deadline,
  step: string,
  expression: string,
): Promise<unknown> {
  const { session, frame } = page;
  const asked = async () => {
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frame.id,
      worldName: 'capstan-picture',
    });
    return session.send('Runtime.evaluate', { expression, contextId: executionContextId, returnByValue: true });
  };
  try {
    const { result, exceptionDetails } = await deadline.step(step, letGo(page, deadline, asked()));
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  } catch (error) {
    if (error instanceof CdpError) return undefined;
    throw error;
  }
}

/** The same of a page that must answer. Throws `capture_timeout` when its documents go faster than they can be asked. */
export async function retryUntilAnswered(
  page: IsolatedPage,
  deadline: Deadline,
  step: string,
  expression: string,
): Promise<unknown> {
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const answer = await askPage(page, deadline, step, expression);
    if (answer !== undefined) return answer;
    await deadline.step(step, delay(NEXT_DOCUMENT_MS));
  }
  throw new CapstanError('capture_timeout', `the page did not hold still (${step})`);
}
