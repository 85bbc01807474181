import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { CapstanError } from '../../capture/errors.ts';
import type { PageSession } from '../page/isolated-page.ts';

/** How often it is tried. */
const POLLING_MS = 100;
const MAX_REASON_CHARACTERS = 300;

/** Rejects with `script_failed` when it cannot be read. None of it is run. */
export async function checkSyntax(session: PageSession, source: string): Promise<void> {
  // The whole is read before any of it runs, and what it begins with is its end.
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `throw 0;(${source}\n)` });
  const { className, description = '' } = exceptionDetails?.exception ?? {};
  if (className !== 'SyntaxError') return;
  const [reason = ''] = description.split('\n');
  throw new CapstanError('script_failed', `waitForFunction: ${reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed()}`);
}

/**
 * Resolves when an expression gives something truthy in whatever document the page shows by then, or when `signal` is
 * aborted. A function is called, and a promise awaited; what throws does not hold yet.
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
    // It ran in a document that is gone; the next one is asked.
    if (error instanceof Error && /navigation|context was destroyed/i.test(error.message)) return false;
    throw error;
  }
}
