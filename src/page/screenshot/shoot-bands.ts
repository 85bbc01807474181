import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import type { TruncatedBy } from '../../capture/result/truncation.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { emulateDevice } from './emulate-device.ts';
import { retryScreenshot } from './retry-screenshot.ts';
import { joinMs } from './screenshot-cost.ts';
import { sizeOf } from './screenshot-size.ts';
import type { ShotPlan } from './shot-plan.ts';
import { openTallWindow, scrollBack, scrollTallWindow } from './tall-window.ts';
import type { PlannedBand } from './window-bands.ts';

/** Maximum bytes of all bands, which are held in memory until they are joined. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Time that is left for storing the image after its bands were joined. */
const RESERVE_MS = 1_000;
/** A band may take longer than the one before it by this factor. */
const BAND_MARGIN = 1.5;

/** The part that a page shows which is scrolled to its top. */
const TOP = { y: 0, height: 0 };

const LOSSLESS = { format: 'png', optimizeForSpeed: true } as const;

/** The screenshot of a part of the page, as a PNG. */
export interface Band {
  readonly part: Rectangle;
  readonly image: Buffer;
}

export interface Bands {
  readonly bands: readonly Band[];
  /** The part of the page that the bands show. */
  readonly part: Rectangle;
  readonly isPartial: boolean;
  /** Why bands at the end are missing. */
  readonly truncatedBy: TruncatedBy;
}

/**
 * Takes a screenshot of each of these parts, which lie below each other. Stops early when the time does not suffice for
 * more, or when the bands have too many bytes; there is at least one band.
 */
export async function shootBands(
  page: IsolatedPage,
  plan: ShotPlan,
  deadline: Deadline,
  { parts, inTallWindow }: { readonly parts: readonly PlannedBand[]; readonly inTallWindow: boolean },
): Promise<Bands> {
  // The page must not change between two bands.
  const pause = (value: boolean) => page.session.post('Emulation.setScriptExecutionDisabled', { value });
  const scrolls = parts.some(({ inWindow }) => inWindow);
  const paused = parts.length > 1 || scrolls;
  if (paused) pause(true);
  if (inTallWindow) await openTallWindow(page, plan.viewport, deadline, parts);
  const bands: Band[] = [];
  let bytes = 0;
  let isPartial = false;
  let bandMs = 0;
  const taken = async (truncatedBy: TruncatedBy): Promise<Bands> => {
    const [first, last] = [bands.at(0)?.part, bands.at(-1)?.part];
    if (first === undefined || last === undefined) throw new TypeError('there are no bands');
    const part = { ...first, height: last.y + last.height - first.y };
    if (scrolls) await scrollBack(page, deadline);
    // Frames that are added to the bands report with a script that they have been drawn.
    if (paused && !plan.changesElements && !isPartial) pause(false);
    if (inTallWindow) emulateDevice(page.session, plan.viewport);
    return { bands, part, isPartial: isPartial || truncatedBy === 'time', truncatedBy };
  };
  // Each pass reads every pixel: one joins the bands, and one resizes the image.
  const passes = plan.resize === undefined ? 1 : 2;
  for (const part of parts) {
    const soFar = { width: part.width, height: part.y + part.height - (parts[0]?.y ?? 0) };
    const needsMs = bandMs * BAND_MARGIN + passes * joinMs(sizeOf(soFar, plan, '')) + RESERVE_MS;
    if (bands.length > 0 && needsMs > deadline.remainingMs) return taken('time');
    const began = performance.now();
    const { inWindow, ...rectangle } = part;
    if (scrolls) await scrollTallWindow(page, deadline, inWindow ? part : TOP);
    const clip = { ...rectangle, scale: 1 };
    const shoot = () => page.session.shoot({ ...LOSSLESS, captureBeyondViewport: !inWindow, clip });
    const shot = await retryScreenshot(page, deadline, shoot);
    bandMs = performance.now() - began;
    bytes += shot.answer.byteLength;
    if (bands.length > 0 && bytes > MAX_BYTES) return taken('limit');
    bands.push({ part: rectangle, image: shot.answer });
    isPartial ||= shot.isPartial;
  }
  return taken('');
}
