import { FORMATS } from '../../capture/artifacts/formats.ts';
import type { Deadline } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { arePrepared } from '../find/prepared-frames.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { holdStill } from '../loading/hold-still.ts';
import { type ChosenPart, choosePart } from './choose-part.ts';
import { composeFrames } from './compose-frames.ts';
import { disableAnimations } from './disable-animations.ts';
import { joinImages } from './encode-image.ts';
import { type BlankFrame, findBlankFrames } from './find-blank-frames.ts';
import { collapse, hideAndMask } from './hide-and-mask.ts';
import { showEverything } from './measure-page.ts';
import { printPdf } from './print-pdf.ts';
import { retryScreenshot } from './retry-screenshot.ts';
import type { Screenshot } from './screenshot.ts';
import { bandsOf, type ScreenshotSize, sizeOf } from './screenshot-size.ts';
import { shootBands } from './shoot-bands.ts';
import { isTooSlow, shootPart } from './shoot-part.ts';
import { shootWindow } from './shoot-window.ts';
import type { ShotPlan } from './shot-plan.ts';
import { needsTallWindow } from './tall-window.ts';
import { type PlannedBand, windowBands } from './window-bands.ts';

/** Maximum number of screenshots of a page that navigates between its preparation and the screenshot. */
const MAX_DOCUMENTS = 5;

/**
 * Takes the screenshot: the window, the whole page up to the limits, a part of it, or its sheets. Throws
 * `selector_not_found` when the part does not exist, and `capture_timeout` when the page navigates again and again.
 */
export async function takeScreenshot(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<Screenshot> {
  let isPartial = false;
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const isLast = documents === MAX_DOCUMENTS;
    if (isLast) await holdStill(page, deadline);
    const { document } = page.frame;
    const rested = page.frame.rests(plan.milestone);
    page.visit.preparedFrames.clear();
    try {
      const { inBands, ...screenshot } = await shoot(page, plan, deadline);
      isPartial ||= screenshot.isPartial || isLast;
      // In the next document nothing is hidden, masked or at rest, and elements are in other positions.
      const isSame = page.frame.document === document && (await arePrepared(page, deadline));
      if (isSame || !(isPrepared(plan) || inBands)) return { ...screenshot, isPartial };
    } catch (error) {
      // A document that was arriving, or was replaced, may lack what there is a moment later.
      if (isLast || (rested && page.frame.document === document)) throw error;
    }
  }
  throw new CapstanError('capture_timeout', 'the page navigated again and again during the screenshot');
}

function isPrepared({ shown, changesElements, disablesAnimations }: ShotPlan): boolean {
  return shown.what === 'element' || changesElements || disablesAnimations;
}

/** A screenshot; in bands when it was joined from several screenshots, which must show the same document. */
interface Shot extends Screenshot {
  readonly inBands?: boolean;
}

async function shoot(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<Shot> {
  if (plan.disablesAnimations) await disableAnimations(page, deadline);
  await collapse(page, plan.hides, deadline);
  if (plan.shown.what === 'sheets') {
    await showEverything(page, deadline);
    await hideAndMask(page, plan.hides, deadline);
    return printPdf(page, plan, deadline);
  }
  const chosen = await choosePart(page, plan, deadline);
  const { part, size } = chosen;
  const { first, parts, inTallWindow } = planBands(chosen, plan);
  const isSlow = isTooSlow({ ...chosen, part: first }, plan, deadline);
  await hideAndMask(page, plan.hides, deadline, isSlow || inTallWindow ? 'maskWhole' : 'mask');
  if (plan.taken.isTransparent) {
    page.session.post('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } });
  }
  const options = shotOptions(chosen, plan);
  const fallback = isSlow ? await shootPart(page, plan, deadline, options, size.fullHeight) : null;
  if (fallback !== null) return { ...fallback, part: null, isPartial: true, fullHeight: size.fullHeight };
  const blank = await findBlankFrames(page, chosen, deadline);
  if (blank.length > 0 || parts.length > 1 || parts.some((each) => each.inWindow)) {
    return shootInBands(page, plan, deadline, { size, parts, blank, inTallWindow });
  }
  const { answer, isPartial } = await retryScreenshot(page, deadline, () =>
    part === null ? shootWindow(page, plan, options) : page.session.shoot(options),
  );
  return { image: answer, part, isPartial, ...size };
}

/** Divides a part into the bands that are taken one by one. `first`: the first one, if only its size mattered. */
function planBands(chosen: ChosenPart, plan: ShotPlan) {
  const { part, inWindow, beforeFixed, window } = chosen;
  const isWhole = part === null || inWindow;
  const bySize = isWhole ? [] : bandsOf(part, plan);
  const bands = isWhole ? [] : windowBands(part, beforeFixed, window, plan);
  const inTallWindow = bands === null || needsTallWindow(chosen);
  const parts = inTallWindow ? bySize.map((each) => ({ ...each, inWindow: true })) : bands;
  return { first: bySize[0] ?? part, parts, inTallWindow };
}

/** Returns the options of the protocol for a part that is taken at once. */
function shotOptions({ part, inWindow }: ChosenPart, { taken: { format, quality } }: ShotPlan) {
  return {
    format,
    ...(FORMATS[format].hasQuality ? { quality } : {}),
    // Weaker compression. Measured: 1.38 times as many captures per second, with files 15 % larger.
    optimizeForSpeed: true,
    // In a right-to-left page, `captureBeyondViewport` misplaces a part that lies within the window.
    ...(part === null ? {} : { captureBeyondViewport: !inWindow, clip: { ...part, scale: 1 } }),
  };
}

interface BandedPart {
  readonly size: ScreenshotSize;
  readonly parts: readonly PlannedBand[];
  readonly blank: readonly BlankFrame[];
  readonly inTallWindow: boolean;
}

/** Takes the screenshot of a part that Chromium cannot draw at once, or in which it leaves frames blank. */
async function shootInBands(
  page: IsolatedPage,
  plan: ShotPlan,
  deadline: Deadline,
  { size, parts, blank, inTallWindow }: BandedPart,
): Promise<Shot> {
  const { bands, part, isPartial, truncatedBy } = await shootBands(page, plan, deadline, { parts, inTallWindow });
  const { images, complete } =
    blank.length > 0
      ? await composeFrames(page, plan, deadline, bands, blank)
      : { images: bands.map((each) => each.image), complete: true };
  const shown = sizeOf(part, plan, truncatedBy === '' ? size.truncatedBy : truncatedBy);
  const tops = bands.map((band) => Math.round((band.part.y - part.y) * plan.scale));
  const [only, ...others] = images;
  const image =
    only !== undefined && others.length === 0 && blank.length > 0
      ? only
      : await deadline.step('join the bands', joinImages(images, { ...shown, tops }, plan.taken));
  return {
    image,
    part,
    ...shown,
    fullHeight: size.fullHeight,
    isPartial: isPartial || !complete,
    inBands: parts.length > 1 || parts.some((each) => each.inWindow),
  };
}
