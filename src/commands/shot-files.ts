import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Result } from '../capture/result.ts';
import type { CaptureService } from '../service/create-service.ts';

/** Longest name of a file without its number and its ending; every file system takes it. */
const NAME_LENGTH = 100;

/**
 * A file name that tells people which page it is, and nothing but that: no separator, no dot at the start, whatever the
 * URL holds. `index` is the capture's place among `count`, so that names never collide.
 */
export function shotFileName(result: Pick<Result, 'url' | 'host' | 'format'>, index: number, count: number): string {
  const path = URL.parse(result.url)?.pathname ?? '';
  const page = `${result.host}${path}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, NAME_LENGTH);
  const place = String(index + 1).padStart(String(count).length, '0');
  return `${page === '' ? 'page' : page}-${place}.${result.format === 'jpeg' ? 'jpg' : result.format}`;
}

/** Copies the image of a stored capture into `dir`. Resolves with the path of the file. */
export async function saveShot(
  artifacts: CaptureService['artifacts'],
  result: Result,
  dir: string,
  index: number,
  count: number,
): Promise<string> {
  const image = await artifacts.open(result.id, 'image');
  if (image === undefined) throw new Error(`the image of ${result.url} is gone`);
  const file = join(dir, shotFileName(result, index, count));
  await pipeline(image.stream(), createWriteStream(file));
  return file;
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
