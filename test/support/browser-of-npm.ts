import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { executableFinder } from '../../src/actors/executable.ts';
import { makeDirectory } from './temporary-directory.ts';

/**
 * Lets this process use the browser that npm installs, although the system may have another: puts it into a folder at
 * the beginning of PATH, under the name that is looked for first.
 */
export async function useBrowserOfNpm(): Promise<void> {
  if (process.env.BROWSER_OF_NPM !== undefined) return;
  const folder = await makeDirectory();
  const bin = join(folder, 'npm', 'bin');
  await mkdir(bin, { recursive: true });
  const { PATH = '' } = process.env;
  process.env.PLAYWRIGHT_BROWSERS_PATH = join(folder, 'none');
  process.env.PATH = '';
  const found = await executableFinder(undefined)();
  process.env.PATH = [bin, PATH].join(delimiter);
  if ('missing' in found) throw new Error(found.detail ?? found.missing);
  await symlink(found.path, join(bin, 'chromium-headless-shell'));
  // The fonts of the package, where the system has none.
  Object.assign(process.env, found.env, { BROWSER_OF_NPM: found.path });
}
