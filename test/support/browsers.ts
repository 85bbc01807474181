import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Executable, executableFinder } from '../../src/actors/launching/executable.ts';
import { makeDirectory } from './temporary-directory.ts';

/*
 * The browser of the suite is the one that npm installs, although the system may have another, which is the second one
 * of `npm run test:all`.
 */

/** Lets this process and its descendants find the browser of npm first, under the name that is looked for first. */
export async function setup(): Promise<void> {
  const folder = await makeDirectory();
  const bin = join(folder, 'npm', 'bin');
  await mkdir(bin, { recursive: true });
  const found = await browserOfNpm();
  if ('missing' in found) throw new Error(found.detail ?? found.missing);
  await symlink(found.path, join(bin, 'chromium-headless-shell'));
  process.env.PLAYWRIGHT_BROWSERS_PATH = NOWHERE;
  process.env.PATH = [bin, process.env.PATH].join(delimiter);
  // The fonts of the package, where the system has none.
  Object.assign(process.env, found.env);
}

/** Returns the variables with which a process uses the browser of the system; undefined where it has none. */
export async function secondBrowser(): Promise<Readonly<Record<string, string>> | undefined> {
  const { PATH = '' } = process.env;
  const [ofNpm, found] = [await browserOfNpm(), await browserIn(PATH)];
  const isSecond = 'path' in found && !('path' in ofNpm && found.path === ofNpm.path);
  return isSecond ? { PATH } : undefined;
}

const NOWHERE = '/nowhere';

const browserOfNpm = () => browserIn('');

async function browserIn(path: string): Promise<Executable> {
  const { PATH, PLAYWRIGHT_BROWSERS_PATH } = process.env;
  Object.assign(process.env, { PATH: path, PLAYWRIGHT_BROWSERS_PATH: NOWHERE });
  try {
    return await executableFinder(undefined)();
  } finally {
    for (const [name, value] of Object.entries({ PATH, PLAYWRIGHT_BROWSERS_PATH })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
