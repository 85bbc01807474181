import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { count, id, instant, sha256 } from '../basics/values.ts';
import { apiKeyName } from '../named-key.ts';
import { CAPTURE_FORMATS } from './formats.ts';

/** Describes the stored image of one capture. */
export const ImageInfoSchema = z.strictObject({
  id,
  url: z.string(),
  host: z.string(),
  title: z.string(),
  format: z.enum(CAPTURE_FORMATS),
  width: count,
  height: count,
  bytes: count.meta({ description: 'Size of the image.' }),
  sha256,
  captured_at: instant,
  api_key_name: apiKeyName,
});

export type ScreenshotInfo = Immutable<z.output<typeof ImageInfoSchema>>;
