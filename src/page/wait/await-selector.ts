import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../../capture/deadline.ts';
import { evaluate } from '../ask-page.ts';
import { placesOf } from '../find/places.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call } from '../page-scripts.ts';

/** Polled from outside: a page can clear the timers of its document, including ours. */
const PASS_MS = 100;

/**
 * Resolves when an element that matches is visible, in whichever document the page shows by then; never when none
 * appears or `signal` is aborted.
 */
export async function awaitSelector(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !(await isVisible(page, selector, deadline))) await delay(PASS_MS);
}

async function isVisible(page: IsolatedPage, selector: string, deadline: Deadline): Promise<boolean> {
  const places = (await placesOf(page, selector, deadline)) ?? [];
  const asking = places.map((place) =>
    evaluate(place, call('hasVisibleMatch', place.steps), { world: 'capstan-wait', timeoutMs: deadline.waitingMs }),
  );
  return (await Promise.all(asking)).includes(true);
}
