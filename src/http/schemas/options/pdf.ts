import { z } from 'zod';
import { PAPER_FORMATS } from '../../../capture/request.ts';
import { flag, objectOf, quantity } from '../fields.ts';

/** Millimetres. More on each side would leave nothing of the smallest paper. */
const MAX_MARGIN = 50;

/** How the format `pdf` is laid out. */
export const pdfField = objectOf(
  {
    paper: z
      .enum(PAPER_FORMATS, { error: `must be one of ${PAPER_FORMATS.join(', ')}` })
      .optional()
      .meta({ default: 'A4' }),
    landscape: flag.optional().meta({ default: false }),
    margin: quantity('millimetres', 0, MAX_MARGIN)
      .optional()
      .meta({ description: 'Millimetres, on all four sides.', default: 10 }),
    scale: quantity('', 0.1, 2).optional().meta({ default: 1 }),
    background: flag
      .optional()
      .meta({ description: 'Whether colours and pictures behind the text are printed.', default: true }),
  },
  'pdf',
  'an object of paper, landscape, margin, scale and background, or of some of them',
)
  .optional()
  .meta({ description: 'For the format `pdf`.' });
