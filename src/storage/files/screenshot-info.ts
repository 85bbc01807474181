import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Result, ScreenshotInfo } from '../../capture/domain.ts';
import { CAPTURE_FORMATS } from '../../capture/request.ts';
import { htmlPath, imagePath } from './layout.ts';

/** Bytes: a third of a millisecond. */
const HASHED_AT_ONCE = 512 * 1024;

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

/**
 * A piece at a time, for a screenshot may have many megabytes. The copy that a thread would have to be given (webcrypto)
 * takes the event loop more than hashing does, and at once.
 */
async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.byteLength; start += HASHED_AT_ONCE) {
    if (start > 0) await nextTurn();
    hash.update(bytes.subarray(start, start + HASHED_AT_ONCE));
  }
  return hash.digest('hex');
}
