import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright';

/** Interval between evaluations, in milliseconds. */
const POLLING_MS = 100;

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
