import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { timeNames } from '../files/layout.ts';

/*
 * The objects of a store:
 *
 *   captures/<yyyymmdd>/<hhmm>/<id>/capture                       record and texts; makes the capture appear (pack.ts)
 *   captures/<yyyymmdd>/<hhmm>/<id>/marks                         marks that were given later, as JSON
 *   captures/<yyyymmdd>/<hhmm>/<id>/<upload>/image.png            a file that no capture names is removed by sweep.ts
 *   captures/<yyyymmdd>/<hhmm>/<id>/<upload>/<API key>/image.png  requested by a key with a name
 *   removed/<uuid>                                                files of removed captures, which may be open
 *   compared/last                                                 written when all files were compared with captures
 *
 * Ids have 16 digits, so that the order of keys is the order of captures.
 */

export const CAPTURES = 'captures/';
const PARTS = ['capture', 'marks'] as const;

export function minuteOf(day: string, minute: string): string {
  return `${CAPTURES}${day}/${minute}/`;
}

/** Returns the beginning of all keys of a capture. */
export function folderOf(id: number): string {
  const { day, minute } = timeNames(id);
  return `${minuteOf(day, minute)}${String(id).padStart(16, '0')}/`;
}

export function keyOf(id: number, part: (typeof PARTS)[number]): string {
  return `${folderOf(id)}${part}`;
}

/** The key of a file. `upload`: a name that no other upload has. */
export function fileKey(
  { id, api_key_name }: Pick<ScreenshotInfo, 'id' | 'api_key_name'>,
  upload: string,
  name: string,
): string {
  return [`${folderOf(id)}${upload}`, ...(api_key_name === undefined ? [] : [api_key_name]), name].join('/');
}

/** The parts of a key below `captures/`. */
interface KeyParts {
  readonly id: number;
  readonly part: (typeof PARTS)[number] | 'file';
  /** The API key that requested the capture of a file; null: without a name. */
  readonly apiKey: string | null;
}

export function partsOf(key: string): KeyParts | undefined {
  const [, , , id = '', name, ...rest] = key.split('/');
  const part = rest.length === 0 ? PARTS.find((one) => one === name) : 'file';
  if (part === undefined || !/^\d{16}$/.test(id)) return undefined;
  return { id: Number(id), part, apiKey: rest.length === 2 ? (rest[0] ?? null) : null };
}
