import { createWriteStream } from 'node:fs';
import { mkdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ARTIFACTS, type ArtifactKind, type OutputKind } from '../../capture/artifacts/artifacts.ts';
import { FORMATS } from '../../capture/artifacts/formats.ts';
import { errorText } from '../../capture/basics/error-text.ts';
import type { Failure } from '../../capture/errors.ts';
import type { Evidence } from '../../capture/result/evidence.ts';
import type { Result } from '../../capture/result/result.ts';
import { ConfigError } from '../../config/mod.ts';
import type { Logger } from '../../log/log.ts';
import type { Ending } from '../ending.ts';

/** Maximum length of a file name without its number and extension, which every file system accepts. */
const MAX_NAME_CHARACTERS = 100;

/** Captures pages, and hands each outcome over; the next one when the promise is resolved. */
export type Capturing = (
  logger: Logger,
  ending: Ending,
  each: (outcome: ShotOutcome) => Promise<void>,
) => Promise<void>;

/** `index` is the position of the page. */
export type ShotOutcome = { readonly index: number; readonly url: string } & (
  | { readonly capture: ReadableCapture }
  | { readonly failure: Pick<Failure, 'code' | 'reason'> }
);

/** A capture whose files can be read. */
interface ReadableCapture {
  readonly result: Omit<Result, 'artifacts'>;
  readonly evidence: Evidence | null;
  readonly outputs: readonly OutputKind[];
  open(kind: ArtifactKind): Promise<Readable>;
}

/** Destination of the images. */
export interface ShotPlace {
  /** File of a single image; null for one file in `dir` per page, named after its URL. */
  readonly file: string | null;
  readonly dir: string;
  /** Whether existing files are overwritten. */
  readonly force: boolean;
}

/**
 * Returns a file name that shows the page's URL and that every file system accepts: no separators, no leading dot.
 * `index` is the position of the capture among `count` captures and makes the name unique.
 */
export function shotFileName(result: Pick<Result, 'url' | 'host' | 'format'>, index: number, count: number): string {
  const { port = '', pathname = '', search = '' } = URL.parse(result.url) ?? {};
  const page = `${result.host}${port === '' ? '' : `_${port}`}${pathname}${search}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, MAX_NAME_CHARACTERS);
  const place = String(index + 1).padStart(String(count).length, '0');
  return `${page === '' ? 'page' : page}-${place}.${FORMATS[result.format].extensions[0]}`;
}

/**
 * Copies the image of a stored capture to its place, and its outputs beside it (`page.png`, `page.txt`). Resolves with
 * the path of the image. Rejects when a file exists.
 */
export async function saveShot(
  { result, outputs, open }: ReadableCapture,
  { file, dir, force }: ShotPlace,
  index: number,
  count: number,
): Promise<string> {
  const path = file ?? join(dir, shotFileName(result, index, count));
  const stem = path.slice(0, path.length - extname(path).length);
  const copy = async (kind: ArtifactKind, to: string): Promise<void> => write(await open(kind), to, force);
  await copy('image', path);
  for (const name of outputs) await copy(name, `${stem}.${ARTIFACTS[name].extension(result.format)}`);
  return path;
}

/** Writes a file. Leaves no part of it when the disk is full or the connection breaks. */
async function write(content: Readable, to: string, force: boolean): Promise<void> {
  const file = createWriteStream(to, { flags: force ? 'w' : 'wx' });
  let isOpen = false;
  file.once('open', () => {
    isOpen = true;
  });
  try {
    await pipeline(content, file);
  } catch (error) {
    // A failure to remove the file must not hide the first one.
    if (isOpen) await removeFileAt(to).catch(() => {});
    const isOfDisk = error instanceof Error && 'syscall' in error && error.syscall === 'write';
    throw isOfDisk ? new Error(`${to} cannot be written: ${error.message}`, { cause: error }) : error;
  }
}

/** Removes a regular file, also one that a symbolic link leads to; the link stays. */
async function removeFileAt(path: string): Promise<void> {
  const file = await realpath(path);
  if ((await stat(file)).isFile()) await rm(file);
}

/** Makes the folder that a flag names. @throws ConfigError when it cannot be made. */
export async function makeFolderOf(flag: string, path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    const reason = `${path} cannot be created: ${errorText(error)}`;
    throw new ConfigError(`${flag} takes a directory that can be written to, and ${reason}`);
  }
}

/**
 * Makes a folder and its parents. Not with `recursive: true`: where no folder can be made (/proc), Node retries for
 * ever.
 */
async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}
