import { MAX_ENTRIES, MAX_MAP_CHARACTERS, MAX_SHORT_CHARACTERS } from '../../capture/comparison/element-map.ts';
import { type Deadline, within } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { evaluate } from '../../page/asking/ask-page.ts';
import { type Call, call } from '../../page/asking/page-scripts.ts';
import { wholeText } from '../../page/asking/text-in-parts.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Screenshot } from '../../page/screenshot/screenshot.ts';
import { imagePlace } from '../documents/image-boxes.ts';

/** The script ends with what it has after this time. Measured: 10,000 entries take 120 ms of CPU. */
const LIMITS = { entries: MAX_ENTRIES, ms: 1_500, textCharacters: MAX_SHORT_CHARACTERS };
/** Maximum time to wait for the answer, and its share of the remaining time. */
const MAX_MS = 5_000;
const SHARE = 0.2;

/**
 * Returns the element map of a page after its screenshot, as JSON; null when it is not requested, or not ready in time.
 * Rejects only when the capture is cancelled or late.
 */
export async function mapElements(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  screenshot: Screenshot,
): Promise<string | null> {
  // A stopped page runs no scripts, ours included.
  if (!request.elementMap || screenshot.isPartial) return null;
  const { document } = page.frame;
  const ms = Math.min(MAX_MS, deadline.remainingMs * SHARE);
  const asked = ask(page, request, screenshot, ms).catch((error: unknown) => {
    if (error instanceof CdpClosedError) throw error;
    return undefined;
  });
  const answer = await deadline.step('map the elements', within(ms, asked, undefined));
  const isMap = typeof answer === 'string' && answer.length <= MAX_MAP_CHARACTERS;
  return isMap && page.frame.document === document ? answer : null;
}

async function ask(page: IsolatedPage, request: CaptureRequest, screenshot: Screenshot, ms: number): Promise<unknown> {
  const frame = await imagePlace({ page, request, screenshot });
  if (frame === null) return undefined;
  const inPage = (script: Call) => evaluate(page, script, { timeoutMs: ms });
  return wholeText(inPage, call('mapElements', frame, LIMITS, MAX_MAP_CHARACTERS), MAX_MAP_CHARACTERS);
}
