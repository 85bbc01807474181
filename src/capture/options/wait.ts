import { z } from 'zod';
import { optionFacts } from './facts.ts';
import { filled, integer, selector } from './fields.ts';

const MAX_DELAY_MS = 60_000;
const MAX_FUNCTION_CHARACTERS = 10_000;

const WAIT_UNTIL = ['settled', 'load', 'domcontentloaded', 'networkidle'] as const;

/** Conditions to wait for before the page is captured. */
export const waitFields = {
  waitUntil: z
    .enum(WAIT_UNTIL, { error: `must be one of ${WAIT_UNTIL.join(', ')}` })
    .default('settled')
    .meta({
      description:
        'State of the page to wait for: `settled` (it has loaded, for 100 ms nothing in it has changed and none of its requests was in flight, and it shows no sign of more to come, such as a spinner or a running transition; at most 3 s after the load), `load`, `domcontentloaded` (does not wait for images) or `networkidle` (no request of the page or its frames for 500 ms).',
    }),
  waitForSelector: selector.optional().meta({
    description:
      'Wait until a matching element is visible. CSS or XPath, also in shadow roots and, by steps such as `iframe >> .card`, in frames.',
    examples: ['#chart canvas', '//h2[text()="Results"]'],
  }),
  waitForFunction: filled('a JavaScript expression or function', MAX_FUNCTION_CHARACTERS)
    .register(optionFacts, { secret: false })
    .optional()
    .meta({
      description:
        'Wait until this JavaScript expression, or the result of this function, is truthy in the page. A promise is awaited; an exception counts as false.',
      examples: ["document.querySelectorAll('.row').length > 10"],
    }),
  delayMs: integer('milliseconds', 0, MAX_DELAY_MS)
    .default(0)
    .meta({ description: 'Wait this long after everything else, in milliseconds.' }),
};
