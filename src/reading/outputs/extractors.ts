import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { whenFirstAsked } from '../../capture/once.ts';

/** Names of the libraries in the page, and their scripts, which run in a browser as they are. */
const LIBRARIES = {
  Defuddle: 'defuddle',
  Turndown: 'turndown/lib/turndown.browser.cjs.js',
  gfm: '@joplin/turndown-plugin-gfm/lib/turndown-plugin-gfm.cjs.js',
} as const;

/** Returns an expression whose value has the libraries as members. They are read when first needed. */
export const extractors = whenFirstAsked(async () => {
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
});
