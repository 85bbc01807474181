import { z } from 'zod';
import { IMAGE_FORMATS } from '../../../capture-request.ts';

const DEFAULT_QUALITY = 80;

/** What the picture shows. */
export const pictureFields = {
  fullPage: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .meta({ description: 'The whole page, to a cap of 16384 px, past which `truncated` is true.' }),
  format: z
    .enum([...IMAGE_FORMATS, 'jpg'], { error: 'must be png, jpeg or webp' })
    .default('png')
    .transform((format) => (format === 'jpg' ? 'jpeg' : format))
    .meta({ description: '`jpg` is read as `jpeg`.' }),
  quality: z
    .int({ error: 'must be an integer from 1 to 100' })
    .min(1, { error: 'must be from 1 to 100' })
    .max(100, { error: 'must be from 1 to 100' })
    .default(DEFAULT_QUALITY)
    .meta({ description: 'For jpeg and webp.' }),
};
