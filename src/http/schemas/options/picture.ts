import { z } from 'zod';
import { CAPTURE_FORMATS, MAX_PIXELS, type ScreenshotOptions, type Viewport } from '../../../capture/request.ts';
import { flag, integer, noneIfEmpty, objectOf, quantity, selector } from '../fields.ts';
import { pdfField } from './pdf.ts';

const DEFAULT_QUALITY = 80;
const MAX_VIEWPORT = 4096;
/** CSS pixels: as far as anybody's page goes, and as much as one screenshot holds. */
const MAX_CLIP_OFFSET = 1_000_000;
const MAX_CLIP_SIZE = 16_384;
const MAX_SELECTORS = 50;

const viewportSide = integer('CSS pixels', 1, MAX_VIEWPORT);
const clipOffset = integer('CSS pixels', 0, MAX_CLIP_OFFSET);
const clipSize = integer('CSS pixels', 1, MAX_CLIP_SIZE);
const selectors = z
  .array(selector, { error: 'must be a list of selectors' })
  .max(MAX_SELECTORS, { error: `must have at most ${MAX_SELECTORS} selectors` })
  .transform(noneIfEmpty)
  .optional();

/** What the screenshot shows. */
export const imageFields = {
  fullPage: flag.default(false).meta({
    description:
      'The whole page, to a cap of 16384 px, past which `truncated` is true. It is scrolled through first, so that what loads only where somebody looks is there.',
  }),
  format: z
    .enum([...CAPTURE_FORMATS, 'jpg'], { error: 'must be png, jpeg, webp or pdf' })
    .default('png')
    .transform((format) => (format === 'jpg' ? 'jpeg' : format))
    .meta({ description: '`jpg` is read as `jpeg`.' }),
  quality: integer('', 1, 100).default(DEFAULT_QUALITY).meta({ description: 'For jpeg and webp.' }),
  viewport: objectOf(
    {
      width: viewportSide,
      height: viewportSide,
      deviceScaleFactor: quantity('', 0.1, 4)
        .default(1)
        .meta({ description: 'Pixels of the picture for each CSS pixel.' }),
    },
    'a viewport',
    'an object of width, height and, if wanted, deviceScaleFactor',
  )
    .refine(({ width, height, deviceScaleFactor }) => width * height * deviceScaleFactor ** 2 <= MAX_PIXELS, {
      error: `must come to at most ${MAX_PIXELS} pixels, deviceScaleFactor included`,
    })
    .refine(({ width, height, deviceScaleFactor }) => Math.min(width, height) * deviceScaleFactor >= 1, {
      error: 'must come to at least one pixel, deviceScaleFactor included',
    })
    .transform((viewport): Viewport => ({ ...viewport, mobile: false, touch: false }))
    .optional()
    .meta({ description: 'The window, in CSS pixels.', default: { width: 1280, height: 720, deviceScaleFactor: 1 } }),
  selector: selector.optional().meta({
    description:
      'The first visible element that matches, and nothing else. A CSS selector, or XPath when it begins with `/`, `./`, `(` or `xpath=`. When there is none the capture fails with `selector_not_found`.',
    examples: ['main article', '//table[1]'],
  }),
  clip: objectOf(
    { x: clipOffset, y: clipOffset, width: clipSize, height: clipSize },
    'a clip',
    'an object of x, y, width and height',
  )
    .optional()
    .meta({
      description: 'That rectangle of the page, in CSS pixels from its upper left corner. What lies outside is cut.',
    }),
  omitBackground: flag
    .optional()
    .meta({ description: 'What the page does not paint is transparent, in png and webp.', default: false }),
  hide: selectors.meta({ description: 'Elements that match are not shown; their place stays empty.' }),
  mask: selectors.meta({ description: 'Elements that match are covered with one colour, #ff00ff.' }),
  pdf: pdfField,
};

type Written = Partial<Omit<ScreenshotOptions, 'quality'>>;

/** What has no meaning on paper: there are sheets, and no pixels. */
const NOT_ON_PAPER = ['fullPage', 'selector', 'clip', 'omitBackground', 'mask'] as const satisfies (keyof Written)[];

/** Refuses options of the screenshot that contradict each other, by the name of the one that is to go. */
export function refuseContradictions(written: Written, context: z.RefinementCtx): void {
  const refuse = (field: keyof Written, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  const asked = (field: keyof Written) => written[field] !== undefined && written[field] !== false;
  if (written.format === 'pdf') {
    for (const field of NOT_ON_PAPER) if (asked(field)) refuse(field, 'cannot be had with the format pdf');
  } else if (asked('pdf')) refuse('pdf', 'needs the format pdf');
  if (asked('selector') && asked('fullPage')) refuse('selector', 'cannot be had together with fullPage');
  if (asked('clip') && asked('fullPage')) refuse('clip', 'cannot be had together with fullPage');
  if (asked('selector') && asked('clip')) refuse('selector', 'cannot be had together with clip');
  if (asked('omitBackground') && written.format === 'jpeg') {
    refuse('omitBackground', 'needs the format png or webp: jpeg knows no transparency');
  }
}
