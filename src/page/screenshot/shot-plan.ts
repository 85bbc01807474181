import { FORMATS, type ImageFormat } from '../../capture/artifacts/formats.ts';
import { MAX_PAGE_HEIGHT, type Rectangle } from '../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { TruncatedBy } from '../../capture/result/truncation.ts';
import { mediaFeatures } from '../emulation/emulate-visitor.ts';
import type { Milestone } from '../frames/main-frame.ts';
import { loadMilestone } from '../loading/milestone.ts';

/** Maximum length of a side that Chromium draws at once, in pixels. */
export const MAX_SIDE = 16_384;

/** The part of a page that a screenshot shows: the window, the page from its top, its sheets, an element, a rectangle. */
export type Shown =
  | { readonly what: 'window' | 'page' | 'sheets' }
  | { readonly what: 'element'; readonly selector: string }
  | { readonly what: 'clip'; readonly clip: Rectangle };

export interface Encoding {
  readonly format: ImageFormat;
  readonly quality: number;
  readonly isTransparent: boolean;
}

/** Maximum height of an image, in CSS pixels, and the reason for it. */
export interface HeightLimit {
  readonly height: number;
  readonly cause: TruncatedBy;
}

export const UNLIMITED: HeightLimit = { height: Number.POSITIVE_INFINITY, cause: 'limit' };

/** Returns the smaller limit; the first of equal ones. */
export function smaller(one: HeightLimit, other: HeightLimit): HeightLimit {
  return other.height < one.height ? other : one;
}

/**
 * Everything about the screenshot of a capture that follows from its request alone. Made once for each capture. The rest
 * depends on the page, and is found again when the page has changed: the place of the part (`choosePart`), and the
 * bands in which it is taken (`bandsOf`).
 */
export interface ShotPlan {
  readonly shown: Shown;
  readonly viewport: CaptureRequest['viewport'];
  /** Pixels of the image for a CSS pixel of the page. */
  readonly scale: number;
  /**
   * How Chromium's screenshot is encoded, and how the image is in the end. An image that is resized is taken as PNG: it
   * is encoded with loss only once, and it may have more rows than its format holds.
   */
  readonly taken: Encoding;
  readonly final: Encoding;
  readonly resize: CaptureRequest['resize'];
  /** Limits of the screenshot in CSS pixels, before it is resized. */
  readonly maxHeight: HeightLimit;
  readonly maxWidth: number;
  /**
   * Height at which scrolling stops in a page that keeps growing, in CSS pixels; undefined: follows from the height of
   * the page before it was scrolled.
   */
  readonly followedHeight: number | undefined;
  /** Options that change elements before the screenshot, and whether any does. */
  readonly hides: Pick<CaptureRequest, 'hide' | 'collapse' | 'mask' | 'hideFixed' | 'hideChats' | 'hidePopups'>;
  readonly changesElements: boolean;
  readonly disablesAnimations: boolean;
  /** The state that a document must have reached before the screenshot. */
  readonly milestone: Milestone;
  /** Time that is waited for after the page was scrolled, in milliseconds. */
  readonly delayMs: number;
  readonly pdf: CaptureRequest['pdf'];
  /** The media that a single sheet is laid out for. */
  readonly paperMedia: { readonly media: string; readonly features: ReturnType<typeof mediaFeatures> };
}

export function planShot(request: CaptureRequest): ShotPlan {
  const { viewport, resize, quality, omitBackground, pdf, maxHeight, animations } = request;
  const { hide, collapse, mask, hideFixed, hideChats, hidePopups } = request;
  const scale = viewport.deviceScaleFactor;
  const format = request.format === 'pdf' ? 'png' : request.format;
  const encodingOf = (name: ImageFormat): Encoding => ({ format: name, quality, isTransparent: omitBackground });
  const taken = encodingOf(resize === undefined ? FORMATS[format].takenAs : 'png');
  const rows = FORMATS[taken.format].maxRows;
  const limit = smaller(
    { height: MAX_PAGE_HEIGHT, cause: 'limit' },
    { height: Math.floor(rows / scale), cause: 'format' },
  );
  return {
    shown: shownOf(request),
    viewport,
    scale,
    taken,
    final: encodingOf(format),
    resize,
    maxHeight: smaller(limit, { height: maxHeight ?? Number.POSITIVE_INFINITY, cause: 'maxHeight' }),
    maxWidth: Math.floor(Math.min(MAX_SIDE, rows) / scale),
    followedHeight: maxHeight,
    hides: { hide, collapse, mask, hideFixed, hideChats, hidePopups },
    changesElements: (hide ?? collapse ?? mask) !== undefined || hideFixed || hideChats || hidePopups,
    disablesAnimations: animations === 'disabled',
    milestone: loadMilestone(request),
    delayMs: request.delayMs,
    pdf,
    paperMedia: { media: request.media ?? 'print', features: mediaFeatures(request) },
  };
}

function shownOf({ format, fullPage, selector, clip }: CaptureRequest): Shown {
  if (format === 'pdf') return { what: 'sheets' };
  if (selector !== undefined) return { what: 'element', selector };
  if (clip !== undefined) return { what: 'clip', clip };
  return { what: fullPage ? 'page' : 'window' };
}
