import type { Protocol } from 'devtools-protocol';
import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { ChosenPart } from './choose-part.ts';
import { emulateDevice } from './emulate-device.ts';
import { retryScreenshot } from './retry-screenshot.ts';
import { screenshotMs } from './screenshot-cost.ts';
import { bandsOf, holdable, type ScreenshotSize, sizeOf } from './screenshot-size.ts';
import { shootWindow } from './shoot-window.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Share of the remaining time that a full page may take by an estimate, which ignores other load on the machine. */
const FULL_PAGE_SHARE = 0.4;
/** Shares of the remaining time: one to plan the height of the part with, one as the time limit for its screenshot. */
const PART_SHARE = 0.3;
const PATIENCE_SHARE = 0.7;

/** Whether a full page would take too much of the time that is left. Chromium cannot cancel a screenshot. */
export function isTooSlow({ part, inWindow, elements }: ChosenPart, plan: ShotPlan, deadline: Deadline): boolean {
  if (plan.shown.what !== 'page' || inWindow || part === null) return false;
  return screenshotMs(part.height, elements, plan) > deadline.remainingMs * FULL_PAGE_SHARE;
}

/**
 * Captures the window, and then as much of the page from its top as the time allows, in a taller window. This takes a
 * tenth of the time of `captureBeyondViewport`, for which Chromium paints the whole document; but `vh` units and fixed
 * elements follow the taller window. `fullHeight` is the height of the whole page in pixels. The result is partial.
 */
export async function shootPart(
  page: IsolatedPage,
  plan: ShotPlan,
  deadline: Deadline,
  options: Protocol.Page.CaptureScreenshotRequest,
  fullHeight: number,
): Promise<{ readonly image: Uint8Array } & ScreenshotSize> {
  const { clip: _clip, captureBeyondViewport: _beyond, ...plain } = options;
  const { viewport, scale } = plan;
  const startedAt = performance.now();
  const { answer } = await retryScreenshot(page, deadline, () => shootWindow(page, plan, plain));
  const windowMs = performance.now() - startedAt;
  const windows = (deadline.remainingMs * PART_SHARE) / windowMs;
  const maxHeight = Math.max(viewport.height, Math.ceil(fullHeight / scale));
  const height = Math.min(maxHeight, Math.floor(viewport.height * Math.max(1, windows)));
  const wanted = { x: 0, y: 0, width: viewport.width, height };
  const largest = holdable(wanted, plan).part;
  const part = bandsOf(largest, plan)[0] ?? largest;
  if (part.height > viewport.height) {
    emulateDevice(page.session, { ...viewport, height: part.height });
    const shot = shootWindow(page, plan, plain).catch((error: unknown) => {
      if (error instanceof CdpError) return null;
      throw error;
    });
    const image = await deadline.step('take a part', within(deadline.remainingMs * PATIENCE_SHARE, shot, null));
    if (image !== null) return { image, ...sizeOf(part, plan, part.height < maxHeight ? 'time' : '') };
  }
  return { image: answer, ...sizeOf(viewport, plan, 'time') };
}
