import { z } from 'zod';
import type { Immutable } from '../immutable.ts';
import { flag, objectOf, quantity } from './fields.ts';

export const PAPER_FORMATS = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;
export type PaperFormat = (typeof PAPER_FORMATS)[number];

/** Millimetres. A larger margin on each side would leave no room on the smallest paper. */
const MAX_MARGIN = 50;

const pdf = objectOf(
  {
    paper: z.enum(PAPER_FORMATS, { error: `must be one of ${PAPER_FORMATS.join(', ')}` }).default('A4'),
    landscape: flag.default(false),
    margin: quantity('millimetres', 0, MAX_MARGIN).default(10).meta({ description: 'Millimetres, on all four sides.' }),
    scale: quantity('', 0.1, 2).default(1),
    background: flag.default(true).meta({ description: 'Print background colours and images.' }),
  },
  'pdf',
  'an object with any of paper, landscape, margin, scale and background',
);

export type PdfOptions = Immutable<z.output<typeof pdf>>;

/** Layout of a request without `pdf`. */
export const DEFAULT_PDF: PdfOptions = pdf.parse({});

/** Layout of the format `pdf`. */
export const pdfFields = {
  pdf: pdf.optional().meta({ description: 'Layout of the format `pdf`.' }),
};
