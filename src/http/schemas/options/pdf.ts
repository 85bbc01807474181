import { z } from 'zod';
import { PAPER_FORMATS } from '../../../capture-request.ts';

/** Millimetres. More on each side would leave nothing of the smallest paper. */
const MAX_MARGIN = 50;

const MARGIN = `must be a number of millimetres from 0 to ${MAX_MARGIN}`;
const SCALE = 'must be a number from 0.1 to 2';

/** How the format `pdf` is laid out. */
export const pdfField = z
  .strictObject(
    {
      paper: z
        .enum(PAPER_FORMATS, { error: `must be one of ${PAPER_FORMATS.join(', ')}` })
        .optional()
        .meta({ description: 'Default A4.' }),
      landscape: z.boolean({ error: 'must be true or false' }).optional().meta({ description: 'Default false.' }),
      margin: z
        .number({ error: MARGIN })
        .min(0, { error: MARGIN })
        .max(MAX_MARGIN, { error: MARGIN })
        .optional()
        .meta({ description: 'Millimetres, on all four sides. Default 10.' }),
      scale: z
        .number({ error: SCALE })
        .min(0.1, { error: SCALE })
        .max(2, { error: SCALE })
        .optional()
        .meta({ description: 'Default 1.' }),
      background: z
        .boolean({ error: 'must be true or false' })
        .optional()
        .meta({ description: 'Whether colours and pictures behind the text are printed. Default true.' }),
    },
    { error: 'must be an object of paper, landscape, margin, scale and background, or of some of them' },
  )
  .optional()
  .meta({ description: 'For the format `pdf`.' });
