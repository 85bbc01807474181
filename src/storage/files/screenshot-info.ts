import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { ofKey } from '../../capture/client.ts';
import { CAPTURE_FORMATS } from '../../capture/options/screenshot.ts';
import type { DetailedResult, Result } from '../../capture/result.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import { asDetailed } from '../records/record.ts';

/** Bytes hashed at once, which takes a third of a millisecond. */
const HASHED_AT_ONCE = 512 * 1024;

/** Ignores unknown keys: those of the record in the same file, and those that a later version adds. */
const infoSchema = z.object({
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
  api_key_name: z.string().optional(),
});

export function parseScreenshotInfo(text: string): ScreenshotInfo {
  return checkedScreenshotInfo(JSON.parse(text));
}

export function checkedScreenshotInfo(value: unknown): ScreenshotInfo {
  return infoSchema.parse(value);
}

const recordSchema = z.object({ record: z.looseObject({ evidence: z.unknown() }) });

/** The content of `info.json`: the image's description, and the whole record, from which a database can be rebuilt. */
export function infoFile(info: ScreenshotInfo, record: DetailedResult): string {
  return JSON.stringify({ ...info, record });
}

export function recordInInfo(text: string): DetailedResult {
  const { evidence, ...record } = recordSchema.parse(JSON.parse(text)).record;
  return asDetailed(record, evidence);
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
    ...ofKey(result.api_key_name ?? null),
  };
}

/**
 * Hashes in pieces, because an image may have many megabytes. Copying it for a thread (webcrypto) would block the event
 * loop without a break, for longer than hashing does.
 */
async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.byteLength; start += HASHED_AT_ONCE) {
    if (start > 0) await nextTurn();
    hash.update(bytes.subarray(start, start + HASHED_AT_ONCE));
  }
  return hash.digest('hex');
}
