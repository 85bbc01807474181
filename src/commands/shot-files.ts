import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Result } from '../capture/result.ts';
import type { CaptureService } from '../service/create-service.ts';

/** Maximum length of a file name without its number and its extension; every file system takes it. */
const MAX_NAME_CHARACTERS = 100;

/** Where images go. */
export interface ShotPlace {
  /** The file of a single image; null: one in `dir` for each page, named after its URL. */
  readonly file: string | null;
  readonly dir: string;
  /** Existing files are overwritten. */
  readonly force: boolean;
}

/**
 * Returns a file name that tells people which page it is, and that every file system takes: no separator, no dot at the
 * start, whatever the URL holds. `index` is the capture's place among `count`, so that names never collide.
 */
export function shotFileName(result: Pick<Result, 'url' | 'host' | 'format'>, index: number, count: number): string {
  const { port = '', pathname = '', search = '' } = URL.parse(result.url) ?? {};
  const page = `${result.host}${port === '' ? '' : `_${port}`}${pathname}${search}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, MAX_NAME_CHARACTERS);
  const place = String(index + 1).padStart(String(count).length, '0');
  return `${page === '' ? 'page' : page}-${place}.${result.format === 'jpeg' ? 'jpg' : result.format}`;
}

/** Copies the image of a stored capture to its place. Resolves with the path of the file. Rejects when it exists. */
export async function saveShot(
  artifacts: CaptureService['artifacts'],
  result: Result,
  { file, dir, force }: ShotPlace,
  index: number,
  count: number,
): Promise<string> {
  const image = await artifacts.open(result.id, 'image');
  if (image === undefined) throw new Error(`the image of ${result.url} is gone`);
  const path = file ?? join(dir, shotFileName(result, index, count));
  await pipeline(image.stream(), createWriteStream(path, { flags: force ? 'w' : 'wx' }));
  return path;
}

/** Makes a folder and those above it. Not `recursive: true`: where nothing can be made (/proc), Node tries for ever. */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
