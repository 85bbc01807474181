import { z } from 'zod';
import { filled, integer, selector } from './fields.ts';

const MAX_DELAY_MS = 60_000;
const MAX_FUNCTION_CHARACTERS = 10_000;

export const WAIT_UNTIL = ['load', 'domcontentloaded', 'networkidle'] as const;

/** When the page is captured. */
export const waitFields = {
  waitUntil: z
    .enum(WAIT_UNTIL, { error: `must be one of ${WAIT_UNTIL.join(', ')}` })
    .default('load')
    .meta({
      description:
        'What the page must have come to: `load`; `domcontentloaded`, which waits for no images; `networkidle`, when the page and the frames in it asked for nothing in half a second.',
    }),
  waitForSelector: selector.optional().meta({
    description:
      'Until an element that matches is visible. A CSS selector, or XPath when it begins with `/`, `./`, `(` or `xpath=`.',
    examples: ['#chart canvas', '//h2[text()="Results"]'],
  }),
  waitForFunction: filled('a JavaScript expression or function', MAX_FUNCTION_CHARACTERS)
    .optional()
    .meta({
      description:
        'Until this JavaScript expression, or what this function returns, is truthy in the page. A promise is awaited; what throws does not hold yet.',
      examples: ["document.querySelectorAll('.row').length > 10"],
    }),
  delayMs: integer('milliseconds', 0, MAX_DELAY_MS)
    .default(0)
    .meta({ description: 'Milliseconds to wait after all else.' }),
};
