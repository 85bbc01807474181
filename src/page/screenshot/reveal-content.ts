import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../asking/ask-page.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Share of the waiting time that showing hidden content may take. */
const REVEAL_SHARE = 1 / 4;

/**
 * Looks at elements that a page shows only while they are in the window, and hides again: scrolls to each of them, ends
 * its animations, and remembers its look there for the screenshot. Does nothing on a page without such elements.
 * Returns how many of them it found, and how many stay hidden because the time was over.
 */
export async function revealContent(page: IsolatedPage, deadline: Deadline): Promise<Revealed> {
  const budgetMs = deadline.waitingMs * REVEAL_SHARE;
  return revealed.parse((await askPage(page, deadline, 'show hidden content', call('revealContent', budgetMs))) ?? {});
}

type Revealed = ResultOf<'revealContent'>;

const revealed: z.ZodType<Revealed> = z.object({ found: z.number().default(0), hidden: z.number().default(0) });
