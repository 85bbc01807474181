import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { CAPTURE_FORMATS } from '../../capture/artifacts/formats.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { ofKey } from '../../capture/client.ts';
import type { Result, StoredRecord } from '../../capture/result/result.ts';
import { asDetailed } from '../records/record.ts';

/** Bytes hashed at once, which takes a third of a millisecond. */
const HASHED_AT_ONCE = 512 * 1024;

/** Ignores keys that a later version adds. */
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

export function checkedScreenshotInfo(value: unknown): ScreenshotInfo {
  return infoSchema.parse(value);
}

const imageSchema = z.object({ bytes: z.number(), sha256: z.string() });
const fileSchema = z.object({ image: imageSchema.nullable(), record: z.looseObject({ evidence: z.unknown() }) });

/**
 * The record of a capture on disk. It is what waits for the database, what the database is rebuilt from, and what a
 * failed capture leaves.
 */
interface RecordFile {
  readonly record: StoredRecord;
  /** Null when the capture failed. */
  readonly image: Pick<ScreenshotInfo, 'bytes' | 'sha256'> | null;
}

/** The name of the API key is first, so that it is found without reading a record, which may be large. */
export function recordText({ record, image }: RecordFile): string {
  const key = ofKey(record.api_key_name);
  return JSON.stringify({ ...key, image: image && { bytes: image.bytes, sha256: image.sha256 }, record });
}

/** Number of bytes at the beginning of a record that contain the name of its API key. */
export const KEY_BYTES = 128;
const KEY = /^\{"api_key_name":"([\w.-]+)"/;

/** Returns the API key that the beginning of a record names; null for a key without a name. */
export function keyIn(beginning: string): string | null {
  return KEY.exec(beginning)?.[1] ?? null;
}

/** Reads a record; `info` describes its image, and is undefined when the capture failed. Throws when it is damaged. */
export function parseRecordFile(text: string): RecordFile & { readonly info: ScreenshotInfo | undefined } {
  const { image, record } = fileSchema.parse(JSON.parse(text));
  const { evidence, ...rest } = record;
  const detailed = asDetailed(rest, evidence);
  return {
    record: detailed,
    image,
    info: image === null ? undefined : checkedScreenshotInfo(describe(detailed, image)),
  };
}

/** `known`: the SHA-256 of the image. */
export async function screenshotInfo(result: Result, image: Uint8Array, known?: string): Promise<ScreenshotInfo> {
  return describe(result, { bytes: image.byteLength, sha256: known ?? (await sha256(image)) });
}

function describe(result: Result, { bytes, sha256 }: Pick<ScreenshotInfo, 'bytes' | 'sha256'>): ScreenshotInfo {
  return {
    id: result.id,
    url: result.url,
    host: result.host,
    title: result.title,
    format: result.format,
    width: result.width,
    height: result.height,
    bytes,
    sha256,
    captured_at: result.probed_at,
    ...ofKey(result.api_key_name),
  };
}

/**
 * Hashes in pieces, because an image may have many megabytes. Copying it for a thread (webcrypto) would block the event
 * loop without a break, for longer than hashing does.
 */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.byteLength; start += HASHED_AT_ONCE) {
    if (start > 0) await nextTurn();
    hash.update(bytes.subarray(start, start + HASHED_AT_ONCE));
  }
  return hash.digest('hex');
}
