import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright';
import { CapstanError } from '../../capture/errors.ts';
import type { PageSession } from '../page/page-session.ts';

/** Interval between evaluations, in milliseconds. */
const POLLING_MS = 100;
const MAX_REASON_CHARACTERS = 300;

/** Checks the syntax without running anything. Rejects with `script_failed` when it is invalid. */
export async function checkSyntax(session: PageSession, source: string): Promise<void> {
  // The engine parses the whole script before running it, and `throw` ends it at once.
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `throw 0;(${source}\n)` });
  const { className, description = '' } = exceptionDetails?.exception ?? {};
  if (className !== 'SyntaxError') return;
  const [reason = ''] = description.split('\n');
  throw new CapstanError('script_failed', `waitForFunction: ${reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed()}`);
}

/**
 * Resolves when an expression is truthy in the document that the page currently shows, or when `signal` is aborted. A
 * function is called, a promise is awaited, and an exception counts as false.
 */
export async function untilItHolds(page: Page, source: string, signal: AbortSignal): Promise<void> {
  const expression = `(async () => {
    const value = (${source}\n);
    return Boolean(await (typeof value === 'function' ? value() : value));
  })().catch(() => false)`;
  while (!signal.aborted && !(await holds(page, expression))) await delay(POLLING_MS);
}

async function holds(page: Page, expression: string): Promise<boolean> {
  try {
    return (await page.evaluate(expression)) === true;
  } catch (error) {
    // The document was replaced; the next one is evaluated.
    if (error instanceof Error && /navigation|context was destroyed/i.test(error.message)) return false;
    throw error;
  }
}
