import { extname } from 'node:path';

/*
 * URLs of the package's own files. They are right in a checkout and in a package, because this module is directly in
 * src/, and the build bundles it into a file directly in dist/.
 */

/** Returns the URL of a file or folder. `path` is relative to the root of the package. */
export function ownFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the URL of a module that runs as a thread. `path` is relative to `src/`, and has no extension. */
export function threadModule(path: string): URL {
  return new URL(`./${path}${extname(import.meta.url)}`, import.meta.url);
}
