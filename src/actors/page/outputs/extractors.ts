import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Names of the libraries in the page, and their scripts, which run in a browser as they are. */
const LIBRARIES = {
  Defuddle: 'defuddle',
  Turndown: 'turndown/lib/turndown.browser.cjs.js',
  gfm: '@joplin/turndown-plugin-gfm/lib/turndown-plugin-gfm.cjs.js',
} as const;

let libraries: Promise<string> | undefined;

/** Returns an expression whose value has the libraries as members. They are read once, when first needed. */
export function extractors(): Promise<string> {
  libraries ??= read().catch((error: unknown) => {
    libraries = undefined;
    throw error;
  });
  return libraries;
}

async function read(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const members = Object.entries(LIBRARIES).map(async ([name, path]) => {
    const source = await readFile(resolve(path), 'utf8');
    return `${name}: load((module, exports) => {${source}\n})`;
  });
  return `((load) => ({${(await Promise.all(members)).join(',\n')}}))((define) => {
    const module = { exports: {} };
    define(module, module.exports);
    return module.exports;
  })`;
}
