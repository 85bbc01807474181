import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import { askPage } from '../asking/ask-page.ts';
import { call, type PageScripts, type ResultOf } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Share of the window's height that each step scrolls by, so that no content falls between two steps. */
export const STEP_SHARE = 0.9;
/** Maximum time of one evaluation in the page, after which the remaining time is checked. Each begins with a frame. */
const MAX_PASS_MS = 400;
/** Time from the beginning of an evaluation after which animation frames are not waited for: a page can cancel them. */
const MAX_FRAME_MS = MAX_PASS_MS + 200;

export type Seen = ResultOf<'scrollPage'>;

const seen: z.ZodType<Seen> = z.object({
  y: z.number(),
  height: z.number(),
  window: z.number(),
  grew: z.boolean(),
  elements: z.number(),
  loading: z.number(),
  moving: z.number(),
  changed: z.boolean(),
});

type ScrollOptions = Pick<Parameters<PageScripts['scrollPage']>[0], 'from' | 'to' | 'stepMs' | 'hears'>;

/**
 * Scrolls through these positions and returns the measured state. Stops early when the time of one evaluation is over.
 * Undefined when the document was replaced.
 */
export async function scrollPage(
  page: IsolatedPage,
  deadline: Deadline,
  options: ScrollOptions,
): Promise<Seen | undefined> {
  const maxMs = Math.min(MAX_PASS_MS, Math.max(0, deadline.waitingMs));
  const scroll = call('scrollPage', { ...options, stepShare: STEP_SHARE, maxMs, maxFrameMs: MAX_FRAME_MS });
  const value = await askPage(page, deadline, 'scroll through the page', scroll);
  return value === undefined ? undefined : seen.parse(value);
}
