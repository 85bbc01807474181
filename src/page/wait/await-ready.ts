import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import { searchedDocuments } from '../find/documents.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { awaitSettled } from './await-settled.ts';
import { waitWithin } from './wait-within.ts';

/** Polled from outside: a page can clear the timers of its document, including ours. */
const PASS_MS = 100;

/** Waits, after the load, for each state that `waitUntil` names. Resolves with false when the waiting time is over. */
const AWAIT_STATE: Readonly<
  Record<CaptureRequest['waitUntil'], (page: IsolatedPage, deadline: Deadline) => boolean | Promise<boolean>>
> = {
  load: () => true,
  domcontentloaded: () => true,
  settled: awaitSettled,
  networkidle(page, deadline) {
    const idle = page.frame.until(() => page.frame.rests('networkIdle'));
    return waitWithin(page, deadline, 'wait for the network', idle);
  },
};

/**
 * Waits for everything that the request names, except `delayMs`, before the page is scrolled through. Resolves with
 * false when the waiting time was over first.
 */
export async function awaitReady(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<boolean> {
  const { waitUntil, waitForSelector, waitForFunction } = request;
  if (!(await AWAIT_STATE[waitUntil](page, deadline))) return false;
  if (waitForSelector !== undefined) {
    const over = new AbortController();
    const visible = awaitSelector(page, waitForSelector, deadline, over.signal);
    const appeared = await waitWithin(page, deadline, 'wait for the selector', visible).finally(() => over.abort());
    if (!appeared) return false;
  }
  if (waitForFunction !== undefined && page.interaction !== undefined) {
    if (!(await page.interaction.waitForFunction(waitForFunction, deadline))) return false;
  }
  return true;
}

/** Waits for `delayMs`, after everything else. Resolves as `awaitReady` does. */
export async function awaitDelay(
  page: IsolatedPage,
  { delayMs }: CaptureRequest,
  deadline: Deadline,
): Promise<boolean> {
  if (delayMs === 0) return true;
  deadline.enter('wait');
  return waitWithin(page, deadline, 'wait as long as asked', delay(delayMs));
}

/**
 * Resolves when an element that matches is visible, in whichever document the page shows by then; never when none
 * appears or `signal` is aborted.
 */
async function awaitSelector(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !(await isVisible(page, selector, deadline))) await delay(PASS_MS);
}

async function isVisible(page: IsolatedPage, selector: string, deadline: Deadline): Promise<boolean> {
  const documents = (await searchedDocuments(page, selector, deadline)) ?? [];
  const asking = documents.map((document) =>
    evaluate(document, call('hasVisibleMatch', document.steps), {
      world: 'capstan-wait',
      timeoutMs: deadline.waitingMs,
    }),
  );
  return (await Promise.all(asking)).includes(true);
}
