import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { optionFacts } from './facts.ts';
import { filled, flag, objectOf, quantity } from './fields.ts';

const PAPER_FORMATS = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;
export type PaperFormat = (typeof PAPER_FORMATS)[number];

/** Millimetres. A larger margin on each side would leave no room on the smallest paper. */
const MAX_MARGIN = 50;
/** Millimetres, where neither the caller nor the page says. */
export const DEFAULT_MARGIN = 10;
/** Millimetres. */
const MIN_PAPER = 20;
/** Millimetres: 200 inches, the longest side that the PDF format allows. */
export const MAX_PAPER = 5080;
const MAX_TEMPLATE_CHARACTERS = 32_768;
const MAX_RANGES_CHARACTERS = 200;

const RANGES = 'must be page numbers and ranges in ascending order, such as 1-3, 5, 8-';

/** Sheets from `first` to `last`, which may be infinite. */
export interface SheetRange {
  readonly first: number;
  readonly last: number;
}

/** Reads `1-3, 5, 8-`; undefined when it is not in ascending order, or not in this form. */
export function readSheetRanges(text: string): readonly SheetRange[] | undefined {
  const ranges: SheetRange[] = [];
  for (const part of text.split(',')) {
    const [, from, dash, to] = /^\s*([1-9]\d{0,5})\s*(?:(-)\s*([1-9]\d{0,5})?)?\s*$/.exec(part) ?? [];
    if (from === undefined) return undefined;
    const first = Number(from);
    const last = to !== undefined ? Number(to) : dash === undefined ? first : Number.POSITIVE_INFINITY;
    if (last < first || first <= (ranges.at(-1)?.last ?? 0)) return undefined;
    ranges.push({ first, last });
  }
  return ranges;
}

const side = quantity('millimetres', MIN_PAPER, MAX_PAPER).optional();
const template = filled('HTML', MAX_TEMPLATE_CHARACTERS).register(optionFacts, { secret: false }).optional();
const VALUES = 'Elements of the classes `date`, `title`, `url`, `pageNumber` and `totalPages` are filled in.';

const pdf = objectOf(
  {
    paper: z.enum(PAPER_FORMATS, { error: `must be one of ${PAPER_FORMATS.join(', ')}` }).default('A4'),
    width: side.meta({ description: 'Width of the paper in millimetres, in place of that of `paper`.' }),
    height: side.meta({ description: 'Height of the paper in millimetres, in place of that of `paper`.' }),
    singlePage: flag.default(false).meta({
      description: 'Print one sheet as high as the page. After 5080 mm it continues on further sheets of that height.',
    }),
    landscape: flag.optional().meta({
      description: 'Swap width and height. Without it, the page says, and otherwise they are not swapped.',
    }),
    preferCssPageSize: flag.default(false).meta({
      description:
        'Print on sheets of the size that the page gives with `@page`. Otherwise they are fitted on the paper.',
    }),
    margin: quantity('millimetres', 0, MAX_MARGIN)
      .optional()
      .meta({ description: `Millimetres, on all four sides. Without it, the page says, or else ${DEFAULT_MARGIN}.` }),
    scale: quantity('', 0.1, 2).default(1),
    background: flag.default(true).meta({ description: 'Print background colours and images.' }),
    outline: flag.default(false).meta({ description: 'Add bookmarks of the headings.' }),
    headerTemplate: template.meta({ description: `HTML in the upper margin of each sheet. ${VALUES}` }),
    footerTemplate: template.meta({ description: `HTML in the lower margin of each sheet. ${VALUES}` }),
    pageRanges: z
      .string({ error: RANGES })
      .max(MAX_RANGES_CHARACTERS, { error: `must have at most ${MAX_RANGES_CHARACTERS} characters`, abort: true })
      .refine((text) => readSheetRanges(text) !== undefined, { error: RANGES })
      .register(optionFacts, { secret: false })
      .optional()
      .meta({ description: 'Sheets to print, such as `1-3, 5, 8-`.' }),
  },
  'pdf',
  'an object with any of paper, width, height, singlePage, landscape, preferCssPageSize, margin, scale, background, outline, headerTemplate, footerTemplate and pageRanges',
)
  .refine(
    ({ width, height, margin = DEFAULT_MARGIN }) => Math.min(width ?? MAX_PAPER, height ?? MAX_PAPER) > 2 * margin,
    { error: 'must be larger than its margins' },
  )
  .refine(({ singlePage, height }) => !singlePage || height === undefined, {
    error: 'cannot be combined with height: remove one of them',
    path: ['singlePage'],
  })
  .refine(({ singlePage, preferCssPageSize }) => !(singlePage && preferCssPageSize), {
    error: 'cannot be combined with preferCssPageSize: remove one of them',
    path: ['singlePage'],
  });

export type PdfOptions = Immutable<z.output<typeof pdf>>;

/** Layout of a request without `pdf`. */
export const DEFAULT_PDF: PdfOptions = pdf.parse({});

export const pdfFields = {
  pdf: pdf.optional().meta({ description: 'Layout of the format `pdf`.' }),
};
