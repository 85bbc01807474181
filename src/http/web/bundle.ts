import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Built by `npm run build:ui`. The path is the same from src/ and from dist/. */
const BUILT = fileURLToPath(new URL('../../../dist/ui/', import.meta.url));

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file of the web interface, in each content coding. */
export interface BundledFile {
  readonly type: string;
  /** Quoted, without the content coding. */
  readonly etag: string;
  readonly identity: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** The files of the web interface, by their path in the directory. */
export type Bundle = ReadonlyMap<string, BundledFile>;

/** Reads all files of a built directory, by default that of the web interface. Empty when it was not built. */
export async function readBundle(directory: string = BUILT): Promise<Bundle> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const served = names.map((name) => name.replaceAll('\\', '/')).filter((name) => extname(name) in MEDIA_TYPES);
  return new Map(
    await Promise.all(served.map(async (name) => [name, await readBundled(join(directory, name))] as const)),
  );
}

async function readBundled(path: string): Promise<BundledFile> {
  const [identity, br, gzip] = await Promise.all([path, `${path}.br`, `${path}.gz`].map((each) => readFile(each)));
  if (identity === undefined || br === undefined || gzip === undefined) throw new Error(`${path} cannot be read`);
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`;
  return { type: MEDIA_TYPES[extname(path)] ?? '', etag, identity, br, gzip };
}
