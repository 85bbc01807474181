import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import { timeNames } from '../files/layout.ts';
import { parseId } from '../records/ids.ts';

/*
 * The bucket, below the prefix:
 *
 *   captures/<yyyymmdd>/<hhmm>/<id>/capture                     record and texts of the page; makes the capture appear
 *   captures/<yyyymmdd>/<hhmm>/<id>/<upload>/image.png          one that no capture names is removed by `sweep.ts`
 *   captures/<yyyymmdd>/<hhmm>/<id>/<upload>/<API key>/image.png       requested by a key with a name
 *   removed/<uuid>                                              images of removed captures, which readers may have open
 *   swept                                                       written when all images were compared with captures
 */

const CAPTURE = 'capture';

export function minuteOf(day: string, minute: string): string {
  return `captures/${day}/${minute}/`;
}

function folderOf(id: number): string {
  const { day, minute } = timeNames(id);
  return `${minuteOf(day, minute)}${id}/`;
}

export function captureKey(id: number): string {
  return `${folderOf(id)}${CAPTURE}`;
}

export function imageKey(
  { id, api_key_name }: Pick<ScreenshotInfo, 'id' | 'api_key_name'>,
  upload: string,
  name: string,
) {
  return [`${folderOf(id)}${upload}`, ...(api_key_name === undefined ? [] : [api_key_name]), name].join('/');
}

/** Reads a key below `captures/`: the capture, and of an image the API key that requested it (null: without a name). */
export function partOf(key: string): Part | undefined {
  const [, , , idText = '', upload = '', ...rest] = key.split('/');
  const id = parseId(idText);
  if (id === undefined) return undefined;
  if (rest.length === 0) return upload === CAPTURE ? { id, isImage: false, apiKey: null } : undefined;
  return { id, isImage: true, apiKey: rest.length === 1 ? null : (rest[0] ?? null) };
}

export interface Part {
  readonly id: number;
  readonly isImage: boolean;
  readonly apiKey: string | null;
}
