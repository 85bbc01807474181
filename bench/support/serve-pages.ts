import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ServedContent, serveContent } from './serve-content.ts';

const EXTENSION = '.html.gz';

export interface ServedPages extends ServedContent {
  /** The names of the pages, without their extension, which are their paths. */
  readonly names: readonly string[];
}

/**
 * Serves `<name>.html.gz` of a folder as UTF-8; whatever else the pages ask for is not found. `scripts: false` shows
 * them as a browser does whose scripts are off.
 */
export async function servePages(folder: string, { scripts = true } = {}): Promise<ServedPages> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(EXTENSION)).toSorted();
  const read = async (name: string): Promise<Buffer> => {
    const html = gunzipSync(await readFile(join(folder, name + EXTENSION)));
    // One byte for each character keeps every encoding.
    return scripts ? html : Buffer.from(html.toString('latin1').replace(/<\/?noscript[^>]*>/gi, ''), 'latin1');
  };
  const served = await serveContent(read, { scripts });
  return { ...served, names: files.map((name) => name.slice(0, -EXTENSION.length)) };
}
