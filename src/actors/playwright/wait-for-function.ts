import { setTimeout as delay } from 'node:timers/promises';
import { CdpError } from '../../cdp/connection.ts';
import { functionOf } from '../../page/asking/page-scripts.ts';
import type { PageSession } from '../../page/frames/page-session.ts';

/** Interval between evaluations, in milliseconds. */
const POLLING_MS = 100;
/** Group of handles that are released together. */
const HANDLES = 'capstan-holds';

/**
 * Resolves when an expression is truthy in the document that the page currently shows, or when `signal` is aborted. A
 * function is called, a promise is awaited, and an exception counts as false.
 */
export async function untilItHolds(session: PageSession, source: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await holds(session, source))) await delay(POLLING_MS);
}

/**
 * Evaluates the caller's expression among the page's own scripts, and not in `isTruthy`, which gets it as the function
 * that returns the value.
 */
async function holds(session: PageSession, source: string): Promise<boolean> {
  try {
    const { result } = await session.send('Runtime.evaluate', {
      expression: `() => (${source}\n)`,
      objectGroup: HANDLES,
    });
    const { objectId } = result;
    if (objectId === undefined) return false;
    const answer = await session.send('Runtime.callFunctionOn', {
      functionDeclaration: functionOf('isTruthy'),
      objectId,
      arguments: [{ objectId }],
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    session.post('Runtime.releaseObjectGroup', { objectGroup: HANDLES });
    return answer.result.value === true;
  } catch (error) {
    // The document was replaced; the next one is evaluated.
    if (error instanceof CdpError) return false;
    throw error;
  }
}
