import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';

/** Files that PDF.js loads: code, fonts, character maps, colour profiles and image decoders. */
const FILE = /^\/(?:build|cmaps|standard_fonts|wasm|iccs)\/[\w-]+(?:\.[\w-]+)+$/;

const TYPES: Readonly<Record<string, string>> = {
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

interface ViewerFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Returns a file of PDF.js by its path in the viewer (`/build/pdf.min.mjs`); undefined when there is no such file. */
export async function viewerFile(path: string): Promise<ViewerFile | undefined> {
  if (!FILE.test(path)) return undefined;
  const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const body = await readFile(join(folder, path)).catch(() => undefined);
  return body === undefined ? undefined : { type: TYPES[extname(path)] ?? 'application/octet-stream', body };
}
