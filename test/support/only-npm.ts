import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { executableFinder } from '../../src/actors/executable.ts';
import { whyNoMongo } from './mongo.ts';
import { makeDirectory } from './temporary-directory.ts';

/**
 * Lets the run use the browser that npm installs, although the system may have another, and leave out the tests with
 * MongoDB where there is none.
 */
export async function setup(): Promise<void> {
  await useBrowserOfNpm();
  // In CI too, this run is the one without MongoDB; `npm run test:all` requires it there.
  delete process.env.CI;
  process.env.ONLY_NPM = 'true';
  const whyNot = await whyNoMongo();
  if (whyNot !== undefined) process.stderr.write(`The tests with MongoDB do not run: ${whyNot}\n`);
}

/** Puts the browser into a folder at the beginning of PATH, under the name that is looked for first. */
async function useBrowserOfNpm(): Promise<void> {
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
  Object.assign(process.env, found.env);
}
