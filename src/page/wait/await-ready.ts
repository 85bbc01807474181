import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { awaitSelector } from './await-selector.ts';
import { awaitSettled } from './await-settled.ts';
import { waitWithin } from './wait-within.ts';

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
    const came = await waitWithin(page, deadline, 'wait for the selector', visible).finally(() => over.abort());
    if (!came) return false;
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
