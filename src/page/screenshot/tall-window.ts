import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { askPage } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { ChosenPart } from './choose-part.ts';
import { emulateDevice } from './emulate-device.ts';

/**
 * Number of elements from which on a document is captured in a tall window. Beyond the window Chromium paints the whole
 * document for each screenshot, and keeps it. Measured with 50,000 elements on 359,620 px: 800 MiB and 6 s for each
 * screenshot beyond the window, 10 MiB and 0.3 s in a tall one.
 */
const MIN_ELEMENTS = 20_000;

/** Returns whether a part is captured in a tall window: it is beyond the window, but not wider, in a large document. */
export function needsTallWindow({ part, inWindow, window, elements }: ChosenPart): boolean {
  if (part === null || inWindow || elements < MIN_ELEMENTS) return false;
  return part.x >= window.x && part.x + part.width <= window.x + window.width;
}

/**
 * Makes the window as high as the highest of these parts. Elements keep heights that depend on that of the window, and
 * fixed elements keep their positions. Turn the page's scripts off before.
 */
export async function openTallWindow(
  page: IsolatedPage,
  viewport: CaptureRequest['viewport'],
  deadline: Deadline,
  parts: readonly Rectangle[],
): Promise<void> {
  const height = Math.max(viewport.height, ...parts.map((part) => part.height));
  await askPage(page, deadline, 'measure the page', call('noteHeights'));
  emulateDevice(page.session, { ...viewport, height });
  await askPage(page, deadline, 'measure the page', call('keepHeights'));
}

/** Shows the page as it was before it was scrolled to parts. */
export async function scrollBack(page: IsolatedPage, deadline: Deadline): Promise<void> {
  await askPage(page, deadline, 'scroll back', call('scrollBack'));
}

/** Scrolls to a part below the window, and to the top for others. Fixed and sticky elements stay where they are. */
export async function scrollTallWindow(
  page: IsolatedPage,
  deadline: Deadline,
  part: Pick<Rectangle, 'y' | 'height'>,
): Promise<void> {
  await askPage(page, deadline, 'scroll to a part', call('scrollTallWindow', part.y, part.height));
}
