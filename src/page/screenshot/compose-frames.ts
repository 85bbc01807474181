import type { OverlayOptions } from 'sharp';
import { holds, intersection } from '../../capture/comparison/boxes.ts';
import { type Deadline, within } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { CdpError } from '../../cdp/connection.ts';
import { inTurn } from '../../imaging/in-turn.ts';
import { loadSharp } from '../../imaging/load-sharp.ts';
import { askPage, unblocked } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { drawn } from './drawn.ts';
import { encode, encodePng } from './encode-image.ts';
import { type BlankFrame, placeFrame } from './find-blank-frames.ts';
import { tilesOf } from './rectangles.ts';
import type { Band } from './shoot-bands.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Share of the remaining time that adding frames may take; encoding the image needs the rest. */
const FRAMES_SHARE = 0.4;

/** Maximum time for the page to draw. */
const MAX_IN_PAGE_MS = 1_000;

/** Images with their frames, and whether every frame was added in time. */
interface Composed {
  readonly images: readonly Buffer[];
  readonly complete: boolean;
}

/**
 * Adds the frames that Chromium left blank to the bands of a screenshot: scrolls the window to each of them, and copies
 * what it shows there. Resolves with an image for each band: in the request's format when there is one band, and as PNG
 * when they have to be joined. The page is left scrolled and without its fixed elements: nothing is read from it after
 * the screenshot.
 */
export async function composeFrames(
  page: IsolatedPage,
  plan: ShotPlan,
  deadline: Deadline,
  bands: readonly Band[],
  blank: readonly BlankFrame[],
): Promise<Composed> {
  const scale = plan.scale;
  const overlays = bands.map((): OverlayOptions[] => []);
  const over = new AbortController();
  const tiles = (shown: Rectangle, { width, height }: Rectangle) =>
    bands.flatMap(({ part }, at) => {
      const inBand = intersection(shown, part);
      return inBand === null ? [] : tilesOf(inBand, width, height).map((tile) => ({ tile, at }));
    });
  const adding = shootFrames(page, deadline, blank, over.signal, tiles, (at, { x, y }, input) => {
    const part = bands[at]?.part ?? { x, y };
    overlays[at]?.push({ input, left: Math.round((x - part.x) * scale), top: Math.round((y - part.y) * scale) });
  });
  const complete = await within(deadline.remainingMs * FRAMES_SHARE, adding, false).finally(() => over.abort());
  const images: Buffer[] = [];
  // One after the other: each is decoded as a whole.
  for (const [at, { image }] of bands.entries()) {
    const added = overlays[at] ?? [];
    const adding =
      added.length === 0 && bands.length > 1 ? Promise.resolve(image) : compose(image, added, plan, bands.length);
    images.push(await deadline.step('add frames to the screenshot', adding));
  }
  return { images, complete };
}

async function compose(
  image: Buffer,
  added: readonly OverlayOptions[],
  plan: ShotPlan,
  bands: number,
): Promise<Buffer> {
  const sharp = await loadSharp();
  // The old content is erased first, so that it does not shine through where a frame is transparent.
  const cleared = added.map((each): OverlayOptions => ({ ...each, blend: 'dest-out' }));
  const composed = sharp(image).composite(plan.taken.isTransparent ? [...cleared, ...added] : [...added]);
  return inTurn(() => (bands === 1 ? encode(composed, plan.taken) : encodePng(composed)).toBuffer());
}

/** A part of a frame that the window can show at once, and the band in which it lies. */
interface Tile {
  readonly tile: Rectangle;
  readonly at: number;
}

/** Resolves with whether it captured all frames before `over` was aborted, and the page kept its document meanwhile. */
async function shootFrames(
  page: IsolatedPage,
  deadline: Deadline,
  blank: readonly BlankFrame[],
  over: AbortSignal,
  tiles: (shown: Rectangle, window: Rectangle) => readonly Tile[],
  add: (band: number, tile: Rectangle, shot: Buffer) => void,
): Promise<boolean> {
  const { document } = page.frame;
  try {
    await askPage(page, deadline, 'hide fixed elements', call('unfix'));
    let window = await windowOf(page, deadline);
    for (const frame of blank) {
      for (const { tile, at } of frame.missing.flatMap((each) => tiles(each, window))) {
        if (!holds(window, tile)) window = await scrollTo(page, deadline, tile, window);
        await drawnInWindow(page, frame);
        const box = await placeFrame(page, frame.id, deadline);
        // A frame that moves when the window is scrolled cannot be brought into the window.
        if (box === null || Math.abs(box.x - frame.box.x) > 1 || Math.abs(box.y - frame.box.y) > 1) break;
        const clip = { ...tile, scale: 1 };
        const options = { format: 'png' as const, optimizeForSpeed: true, captureBeyondViewport: false, clip };
        const shot = await deadline.step('take a frame', page.session.shoot(options));
        if (over.aborted || page.frame.document !== document) return false;
        add(at, tile, shot);
      }
    }
    return true;
  } catch (error) {
    if (error instanceof CdpError) return false;
    throw error;
  }
}

/** Resolves when a frame that was scrolled into the window has drawn, with the frames in it, or after a while. */
async function drawnInWindow(page: IsolatedPage, frame: BlankFrame): Promise<void> {
  // A frame in the page's process draws with the page, whose scripts may be off.
  if (frame.session === page.session) return drawn({ session: frame.session, frame }, MAX_IN_PAGE_MS);
  // The page tells other processes where the window is when it draws.
  await drawn(page, MAX_IN_PAGE_MS);
  await drawn({ session: frame.session, frame });
  await Promise.all(page.frames.within(frame.session).map((inner) => drawn(inner)));
}

/** Scrolls to a tile, and returns the part of the page that the window then shows. */
async function scrollTo(
  page: IsolatedPage,
  deadline: Deadline,
  tile: Rectangle,
  window: Rectangle,
): Promise<Rectangle> {
  await askPage(page, deadline, 'scroll to a frame', call('scrollBy', tile.x - window.x, tile.y - window.y));
  return windowOf(page, deadline);
}

async function windowOf(page: IsolatedPage, deadline: Deadline): Promise<Rectangle> {
  const measuring = unblocked(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const { cssLayoutViewport } = await deadline.step('measure the window', measuring);
  const { pageX, pageY, clientWidth, clientHeight } = cssLayoutViewport;
  return { x: pageX, y: pageY, width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) };
}
