import { z } from 'zod';
import { WAIT_UNTIL } from '../../../capture-request.ts';

const MAX_SELECTOR_CHARACTERS = 2000;
const MAX_DELAY_MS = 60_000;

const SELECTOR = `must be a CSS selector or an XPath of 1 to ${MAX_SELECTOR_CHARACTERS} characters`;
const DELAY = `must be an integer of milliseconds from 0 to ${MAX_DELAY_MS}`;

/** When the picture is taken. */
export const momentFields = {
  waitUntil: z
    .enum(WAIT_UNTIL, { error: `must be one of ${WAIT_UNTIL.join(', ')}` })
    .optional()
    .meta({
      description:
        'What the page must have come to: `load`, the default; `domcontentloaded`, which waits for no images; `networkidle`, when nothing was asked for in half a second.',
    }),
  waitForSelector: z
    .string({ error: SELECTOR })
    .min(1, { error: SELECTOR })
    .max(MAX_SELECTOR_CHARACTERS, { error: SELECTOR })
    .optional()
    .meta({
      description:
        'Until an element that matches is visible. A CSS selector, or XPath when it begins with `/`, `./`, `(` or `xpath=`.',
      examples: ['#chart canvas', '//h2[text()="Results"]'],
    }),
  delayMs: z
    .int({ error: DELAY })
    .min(0, { error: DELAY })
    .max(MAX_DELAY_MS, { error: DELAY })
    .optional()
    .meta({ description: 'Milliseconds to wait after all else. Default 0.' }),
};
