import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, within } from '../../capture/deadline.ts';
import { askPage, evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import { framesBelow } from '../frames/frames-below.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of times that animations are ended: a page may start the next one whenever one ends. */
const MAX_PASSES = 5;
/** Time between two passes, in which the page hears that its animations are over. */
const PASS_MS = 50;
/** Maximum time for a frame to answer. */
const MAX_FRAME_MS = 1_000;

/**
 * Ends the page's animations as Playwright does: finite animations and transitions are
 * finished, infinite ones are cancelled to their initial state, and the caret is hidden. The same happens to those that
 * start later. Call it after the HTML snapshot has been read.
 */
export async function disableAnimations(page: IsolatedPage, deadline: Deadline): Promise<void> {
  const children = await deadline.step('list frames', within(MAX_FRAME_MS, framesBelow(page), []));
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const inChildren = children.map((frame) =>
      // A frame may end at any time.
      within(MAX_FRAME_MS, evaluate(frame, call('freezeAnimations')), 0).catch(() => 0),
    );
    const inPage = askPage(page, deadline, 'disable animations', call('freezeAnimations'));
    const ended = await Promise.all([inPage, deadline.step('disable animations', Promise.all(inChildren))]);
    if (ended.flat().every((count) => !count) || pass === MAX_PASSES) return;
    await deadline.step('disable animations', delay(PASS_MS));
  }
}
