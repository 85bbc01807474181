import { extname } from 'node:path';

/*
 * The files of this package, by their URLs. The build joins all modules, this one included, in a few files directly in
 * dist/, as this one is directly in src/: the URLs are right in both.
 */

/** Returns the URL of a file or folder. `path` is relative to the root of the package. */
export function ownFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the URL of a module that runs as a thread. `path` is relative to `src/`, and has no extension. */
export function threadModule(path: string): URL {
  return new URL(`./${path}${extname(import.meta.url)}`, import.meta.url);
}
