import { z } from 'zod';
import { type Deadline, within } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { MAX_INDEXED_CHARACTERS, MAX_PLACES, type PageWords } from '../../capture/result/page-words.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { READING_WORLD } from '../../page/asking/ask-page.ts';
import { call } from '../../page/asking/page-scripts.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Screenshot } from '../../page/screenshot/screenshot.ts';
import { TEXTS } from '../documents/framed-text.ts';
import { MAX_FRAMES, readThrough } from '../documents/frames.ts';
import { imageBoxes, windowBox } from '../documents/image-boxes.ts';
import { inWorld } from '../outputs/make-outputs.ts';

const LIMITS = { nodes: 100_000, characters: MAX_INDEXED_CHARACTERS, hidden: 0, ms: 1_500, frames: MAX_FRAMES };
/** Maximum time to wait for the words in milliseconds, and its share of the remaining time. */
const MAX_MS = 4_000;
const SHARE = 0.2;

const placedText = z.object({
  text: z.string().max(MAX_INDEXED_CHARACTERS),
  places: z.array(z.tuple([z.int().nonnegative(), windowBox])),
});

/**
 * Returns the words that the page has painted, with their places in the image; null when they could not be read in
 * time. Rejects only when the capture is cancelled or late.
 */
export async function readPageWords(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  screenshot: Screenshot,
): Promise<PageWords | null> {
  // A stopped page runs no scripts, ours included.
  if (screenshot.isPartial) return null;
  const { document } = page.frame;
  const ms = Math.min(MAX_MS, deadline.remainingMs * SHARE);
  const reading = read(page, request, deadline, screenshot, ms).catch((error: unknown) => {
    if (error instanceof CdpClosedError) throw error;
    return null;
  });
  const words = await deadline.step('read the words of the page', within(ms, reading, null));
  return page.frame.document === document ? words : null;
}

async function read(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  screenshot: Screenshot,
  ms: number,
): Promise<PageWords> {
  // A world of its own would take a tenth of the time.
  const reading = { ...inWorld(READING_WORLD, page, ms), request, screenshot, deadline };
  const { text, places } = placedText.parse(await readThrough(reading, TEXTS, call('readWords', LIMITS), ms));
  const toImage = await imageBoxes(reading);
  return {
    text,
    places: places.slice(0, MAX_PLACES).map(([start, box]) => {
      const { x, y, width, height } = toImage(box) ?? { x: 0, y: 0, width: 0, height: 0 };
      return [start, x, y, width, height];
    }),
  };
}
