import { z } from 'zod';
import { CAPTURE_FORMATS, FORMATS, IMAGE_FORMATS, type ImageFormat } from '../artifacts/formats.ts';
import type { Immutable } from '../basics/immutable.ts';
import { orOf } from '../basics/values.ts';
import { optionFacts } from './facts.ts';
import { flag, integer, listOf, noneIfEmpty, objectOf, quantity, selector } from './fields.ts';

/**
 * Maximum number of pixels that Chromium draws at once. Drawing takes 10 bytes per pixel. Measured: 16384 by 16384
 * pixels took 2.7 GB in one Chromium process.
 */
export const MAX_PIXELS = 2048 * 16_384;
/** Maximum number of pixels of an image, which may be drawn in several bands. */
export const MAX_IMAGE_PIXELS = 400_000_000;
/** Maximum height of an image, in CSS pixels. */
export const MAX_PAGE_HEIGHT = 200_000;

const DEFAULT_QUALITY = 80;
const namesOf = (formats: readonly ImageFormat[]) => formats.map((format) => `\`${format}\``).join(' and ');
const LOSSY = namesOf(IMAGE_FORMATS.filter((format) => FORMATS[format].hasQuality));
const TRANSPARENT = namesOf(IMAGE_FORMATS.filter((format) => FORMATS[format].hasTransparency));
const MAX_VIEWPORT = 4096;
/** CSS pixels. Pages are hardly longer than the maximum offset. */
const MAX_CLIP_OFFSET = 1_000_000;
const MAX_CLIP_WIDTH = 16_384;
const MAX_RESIZED = 16_384;
const MAX_SELECTORS = 50;

const viewportSide = integer('CSS pixels', 1, MAX_VIEWPORT);
const clipOffset = integer('CSS pixels', 0, MAX_CLIP_OFFSET);
const imageSide = integer('pixels', 1, MAX_RESIZED);
const pageHeight = integer('CSS pixels', 1, MAX_PAGE_HEIGHT);
const selectors = listOf(selector, 'selectors', MAX_SELECTORS).transform(noneIfEmpty).optional();

const viewport = objectOf(
  {
    width: viewportSide.optional(),
    height: viewportSide.optional(),
    deviceScaleFactor: quantity('', 0.1, 4)
      .optional()
      .meta({ description: 'Pixels of the screenshot for each CSS pixel.' }),
  },
  'a viewport',
  'an object with any of width, height and deviceScaleFactor',
);

/** The viewport of a request or of the device that it names. */
export interface Viewport {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screenshot for each CSS pixel. */
  readonly deviceScaleFactor: number;
  /** Emulates a phone or tablet: `<meta name=viewport>` applies, and scrollbars overlay the page. */
  readonly mobile: boolean;
  readonly touch: boolean;
  /** Size of the screen in CSS pixels. @default that of the viewport */
  readonly screen?: { readonly width: number; readonly height: number } | undefined;
}

/** Viewport of a request without `viewport` and `device`. */
export const DEFAULT_VIEWPORT: Viewport = {
  width: 1280,
  height: 720,
  deviceScaleFactor: 1,
  mobile: false,
  touch: false,
};

/** A viewport as it is written: what it leaves out is the device's or the default. */
export type WrittenViewport = Immutable<z.output<typeof viewport>>;

/**
 * Completes a written viewport from `base`, that of the device or the default. With both sides it is a desktop of that
 * size; otherwise it remains the device's, so that a phone with another height is still a phone.
 */
export function completeViewport(written: WrittenViewport | undefined, base: Viewport): Viewport {
  if (written === undefined) return base;
  const { width, height, deviceScaleFactor } = written;
  if (width !== undefined && height !== undefined) {
    return { ...DEFAULT_VIEWPORT, width, height, ...(deviceScaleFactor !== undefined && { deviceScaleFactor }) };
  }
  const { screen, ...sides } = base;
  const isOfDevice = width === undefined && height === undefined;
  return {
    ...sides,
    width: width ?? base.width,
    height: height ?? base.height,
    deviceScaleFactor: deviceScaleFactor ?? base.deviceScaleFactor,
    ...(isOfDevice && screen !== undefined && { screen }),
  };
}

/** Returns why Chromium cannot draw a viewport; undefined when it can. */
export function viewportProblem({ width, height, deviceScaleFactor }: Viewport): string | undefined {
  if (width * height * deviceScaleFactor ** 2 > MAX_PIXELS) {
    return `must have at most ${MAX_PIXELS} pixels, including deviceScaleFactor`;
  }
  return Math.min(width, height) * deviceScaleFactor < 1
    ? 'must have at least one pixel, including deviceScaleFactor'
    : undefined;
}

const clip = objectOf(
  { x: clipOffset, y: clipOffset, width: integer('CSS pixels', 1, MAX_CLIP_WIDTH), height: pageHeight },
  'a clip',
  'an object with x, y, width and height',
);

const resize = objectOf(
  { width: imageSide.optional(), height: imageSide.optional() },
  'a size',
  'an object with any of width and height',
).refine(({ width, height }) => (width ?? height) !== undefined, { error: 'must have a width or a height' });

/** CSS pixels, from the upper left corner of the page. */
export type Rectangle = Immutable<z.output<typeof clip>>;

/** The area and the format of the screenshot. */
export const screenshotFields = {
  fullPage: flag.default(false).meta({
    description:
      'Capture the whole page instead of the window, up to 200000 CSS pixels or 400 megapixels. The page is scrolled through first, so that lazy content loads. When something is missing, `truncated` is true and `truncated_by` says why.',
  }),
  maxHeight: pageHeight.optional().meta({
    description:
      'Maximum height of a `fullPage` capture, in CSS pixels. A page that grows when it is scrolled is followed down to it.',
  }),
  format: z
    .enum([...CAPTURE_FORMATS, 'jpg'], { error: `must be ${orOf(CAPTURE_FORMATS)}` })
    .default('png')
    .transform((format) => (format === 'jpg' ? 'jpeg' : format))
    .meta({ description: 'Format of the image. `jpg` is read as `jpeg`.' }),
  quality: integer('', 1, 100)
    .default(DEFAULT_QUALITY)
    .meta({ description: `Quality of ${LOSSY}.` }),
  viewport: viewport
    .optional()
    .meta({
      description:
        "Size of the window in CSS pixels. What it leaves out is the device's, or else the default; with both width and height it is a desktop's, at scale 1 unless `deviceScaleFactor` is given.",
      default: { width: DEFAULT_VIEWPORT.width, height: DEFAULT_VIEWPORT.height, deviceScaleFactor: 1 },
    })
    .register(optionFacts, { defaultText: `${DEFAULT_VIEWPORT.width} × ${DEFAULT_VIEWPORT.height}` }),
  selector: selector.optional().meta({
    description:
      'Capture only the first visible element that matches. CSS or XPath, also in shadow roots and, by steps such as `iframe >> .card`, in frames. Without a match the capture fails with `selector_not_found`.',
    examples: ['main article', '//table[1]', 'iframe.pay >> .card'],
  }),
  clip: clip.optional().meta({
    description:
      'Capture only this rectangle of the page, in CSS pixels from its upper left corner. The part outside the page is cut off.',
  }),
  resize: resize.optional().meta({
    description:
      'Scale the finished image down until it fits within these pixels, in proportion. A smaller image is not enlarged.',
    examples: [{ width: 640 }],
  }),
  omitBackground: flag
    .default(false)
    .meta({ description: `Make the background of the page transparent (${TRANSPARENT}).` }),
  animations: z.enum(['allow', 'disabled'], { error: 'must be allow or disabled' }).default('allow').meta({
    description:
      'With `disabled`, CSS animations, transitions and Web Animations do not run in the image: finite ones are shown at their end, infinite ones in their initial state, and the caret is hidden.',
  }),
  hide: selectors.meta({ description: 'Matching elements become invisible; their space stays.' }),
  collapse: selectors.meta({ description: 'Matching elements are left out of the layout, as with `display: none`.' }),
  hideFixed: flag.default(false).meta({
    description:
      'Hide elements that stay in the window when the page is scrolled. Sticky elements are shown at their own place.',
  }),
  hideChats: flag.default(false).meta({ description: 'Hide the widgets of well-known chat services.' }),
  hidePopups: flag
    .default(false)
    .meta({ description: 'Hide dialogs and what else lies over the middle or a large part of the window.' }),
  mask: selectors.meta({ description: 'Matching elements are covered with `#ff00ff`.' }),
};
