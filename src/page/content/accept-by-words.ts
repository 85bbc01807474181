import { z } from 'zod';
import { type Banner, NO_BANNER } from '../../capture/banner.ts';
import { evaluate } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call, type ResultOf } from '../page-scripts.ts';

const clicked: z.ZodType<ResultOf<'accept-by-words'>> = z.enum(['accepted', 'acknowledged', 'none']);

/** Accepts a banner that no rule knows by the words on its buttons, in the page itself. */
export async function acceptByWords(page: IsolatedPage): Promise<Banner> {
  const action = clicked.catch('none').parse(await evaluate(page, call('accept-by-words')));
  return action === 'none' ? NO_BANNER : { found: true, rule: 'words', action };
}
