import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../../../capture/errors.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { elementsOf } from '../selectors.ts';

/** Polled from outside: a page can clear the timers of its document, including ours. */
const PASS_MS = 100;

/**
 * Resolves when an element that matches is visible, in whichever document the page shows by then; never when none
 * appears or `signal` is aborted. Rejects with `selector_not_found` for an invalid selector.
 */
export async function awaitSelector(page: IsolatedPage, selector: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isVisible(page, selector))) await delay(PASS_MS);
}

/** Returns whether an element has a box and is not hidden. */
const VISIBLE = `(element) => {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
}`;

async function isVisible({ session, frame }: IsolatedPage, selector: string): Promise<boolean> {
  try {
    // Returns the same isolated world until the document is replaced.
    const { executionContextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frame.id,
      worldName: 'capstan-wait',
    });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: `${elementsOf(selector)}.some(${VISIBLE})`,
      contextId: executionContextId,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw notASelector(selector);
    return result.value === true;
  } catch (error) {
    // The document was replaced, and its isolated world ended with it; the next document is searched.
    if (error instanceof CdpError) return false;
    throw error;
  }
}

function notASelector(selector: string): CapstanError {
  return new CapstanError('selector_not_found', `what is waited for is not a selector: ${JSON.stringify(selector)}`);
}
