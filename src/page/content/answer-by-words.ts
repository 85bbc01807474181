import { z } from 'zod';
import { type Banner, NO_BANNER } from '../../capture/banner.ts';
import type { BannerAnswer } from '../../capture/options/content.ts';
import { evaluate } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call, type ResultOf } from '../page-scripts.ts';

const clicked: z.ZodType<ResultOf<'answerByWords'>> = z.enum(['accepted', 'rejected', 'acknowledged', 'none']);

/** Answers a banner that no rule knows by the words on its buttons, in the page itself. */
export async function answerByWords(page: IsolatedPage, answer: BannerAnswer): Promise<Banner> {
  const action = clicked.catch('none').parse(await evaluate(page, call('answerByWords', answer)));
  return action === 'none' ? NO_BANNER : { found: true, rule: 'words', action };
}
