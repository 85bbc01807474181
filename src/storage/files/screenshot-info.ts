import { webcrypto } from 'node:crypto';
import { z } from 'zod';
import { CAPTURE_FORMATS } from '../../capture-request.ts';
import type { Result, ScreenshotInfo } from '../../domain.ts';
import { htmlPath, imagePath } from './layout.ts';

/** Loose: what a later version writes into the file must not make it unreadable. */
const infoSchema = z.looseObject({
  id: z.int(),
  url: z.string(),
  host: z.string(),
  title: z.string(),
  format: z.enum(CAPTURE_FORMATS),
  width: z.number(),
  height: z.number(),
  bytes: z.number(),
  sha256: z.string(),
  captured_at: z.string(),
  image: z.string(),
  html: z.string(),
});

export function parseScreenshotInfo(text: string): ScreenshotInfo {
  return infoSchema.parse(JSON.parse(text));
}

export async function screenshotInfo(result: Result, image: Uint8Array): Promise<ScreenshotInfo> {
  return {
    id: result.id,
    url: result.url,
    host: result.host,
    title: result.title,
    format: result.format,
    width: result.width,
    height: result.height,
    bytes: image.byteLength,
    sha256: await sha256(image),
    captured_at: result.probed_at,
    image: imagePath(result.id),
    html: htmlPath(result.id),
  };
}

/** Off the event loop: a picture may have many megabytes. */
async function sha256(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}
