import { setTimeout as delay } from 'node:timers/promises';
import { CdpError } from '../../cdp/connection.ts';
import { type Deadline, within } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** "Unable to capture screenshot" is said now and then, and not the next time; so is that a page is being replaced. */
const MAX_REFUSALS = 5;
const REFUSED_PAUSE_MS = 20;

/**
 * Longest wait for a screenshot of a page that is left alone. One that loads itself again and again gives none, ever; all
 * others take some 80 ms, and 2 s for the largest.
 */
const PATIENCE_MS = 8_000;
const MIN_PATIENCE_MS = 150;

/**
 * Asks for a screenshot until one is given: again when it is refused, and of a page that has to be held still for it
 * (`held`) when none comes.
 */
export async function retryScreenshot<T>(
  page: IsolatedPage,
  deadline: Deadline,
  shoot: () => Promise<T>,
): Promise<{ readonly answer: T; readonly held: boolean }> {
  let held = false;
  const shots: Promise<{ readonly answer: T }>[] = [];
  for (let refusals = 0; ; ) {
    shots.push(shoot().then((answer) => ({ answer })));
    const patienceMs = Math.max(MIN_PATIENCE_MS, Math.min(PATIENCE_MS, deadline.remainingMs / 2));
    try {
      const shot = await deadline.step('take the picture', within(patienceMs, Promise.any(shots), null));
      if (shot !== null) return { ...shot, held };
      holdStill(page);
      held = true;
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      const [reason] = error.errors;
      refusals += 1;
      if (!(reason instanceof CdpError) || refusals === MAX_REFUSALS) throw reason;
      shots.length = 0;
      await deadline.step('take the picture', delay(refusals * REFUSED_PAUSE_MS));
    }
  }
}

/** No more loading and no more scripts: what is there now stays, also of a page that sends itself on and on. */
function holdStill(page: IsolatedPage): void {
  page.session.post('Emulation.setScriptExecutionDisabled', { value: true });
  page.session.post('Page.stopLoading');
}
