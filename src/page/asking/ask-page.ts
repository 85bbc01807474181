import { setTimeout as delay } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { EvaluatedFrame } from '../frames/page-session.ts';
import type { Call } from './page-scripts.ts';

/**
 * Maximum time that a script of the page may block our scripts after the waiting time, before it is terminated, and the
 * share of the time left that it may take: most is kept for the screenshot, which follows.
 */
const PATIENCE_MS = 2_000;
const PATIENCE_SHARE = 0.2;

/** Maximum number of documents that are asked, when the page navigates before it answers. */
const MAX_DOCUMENTS = 5;
const NEXT_DOCUMENT_MS = 50;

/** Awaits `work`, which needs a frame's main thread. Terminates a script that blocks this thread for too long. */
export async function unblocked<T>(
  { session }: Pick<EvaluatedFrame, 'session'>,
  deadline: Deadline,
  work: Promise<T>,
): Promise<T> {
  const endScripts = setTimeout(
    () => session.post('Runtime.terminateExecution'),
    Math.max(deadline.waitingMs, Math.min(PATIENCE_MS, deadline.remainingMs * PATIENCE_SHARE)),
  );
  try {
    return await work;
  } finally {
    clearTimeout(endScripts);
  }
}

/** Name of the isolated world in which a document is watched, read and measured. */
export const READING_WORLD = 'capstan-reading';
/** Name of the isolated world of outputs. Its expressions may take long, and are ended. */
export const OUTPUT_WORLD = 'capstan-outputs';

/**
 * Resolves with the context of an isolated world of a document. Asked for each time: after a navigation to another
 * process, an id that was kept may name the page's own world.
 */
export async function contextIn(
  { session, frame }: Pick<EvaluatedFrame, 'session' | 'frame'>,
  world = READING_WORLD,
): Promise<Protocol.Runtime.ExecutionContextId> {
  const asked = { frameId: frame.id, worldName: world };
  return (await session.send('Page.createIsolatedWorld', asked)).executionContextId;
}

interface EvaluateOptions {
  readonly world?: string;
  readonly timeoutMs?: number;
  readonly mayThrow?: boolean;
}

/**
 * Calls a script in the page's document, in an isolated world where the page's scripts cannot change what it calls.
 * Scripts share that world; a promise is awaited, so it must not depend on timers that the page can clear. Returns
 * undefined when the document was replaced meanwhile, or when the script ran for `timeoutMs`. Does not resolve while a
 * script blocks the page. `mayThrow`: an error of the script is not thrown.
 */
export async function evaluate(
  page: EvaluatedFrame,
  expression: Call,
  { world, timeoutMs, mayThrow = false }: EvaluateOptions = {},
): Promise<unknown> {
  try {
    const { result, exceptionDetails } = await page.session.send('Runtime.evaluate', {
      expression,
      contextId: await contextIn(page, world),
      awaitPromise: true,
      returnByValue: true,
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    });
    if (exceptionDetails !== undefined && !mayThrow) throw new Error(exceptionDetails.exception?.description);
    return result.value;
  } catch (error) {
    if (error instanceof CdpError) return undefined;
    throw error;
  }
}

/** Like `evaluate`, but within the deadline: terminates a script that blocks the page for too long. */
export async function askPage(
  page: EvaluatedFrame,
  deadline: Deadline,
  step: string,
  expression: Call,
): Promise<unknown> {
  return deadline.step(step, unblocked(page, deadline, evaluate(page, expression)));
}

/**
 * Asks until the answer is not undefined, which stands for a document that was replaced. Throws `capture_timeout` when
 * the page navigates faster than it can answer.
 */
export async function untilAnswered<T>(
  deadline: Deadline,
  step: string,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const answer = await deadline.step(step, ask());
    if (answer !== undefined) return answer;
    await deadline.step(step, delay(NEXT_DOCUMENT_MS));
  }
  throw new CapstanError('capture_timeout', `the page navigated again and again (${step})`);
}
