import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import {
  howToInstall,
  installedApplications,
  playwrightExecutables,
  playwrightFolder,
  runsPackagedBinary,
  type System,
} from './browser-locations.ts';

/** A Chromium to drive, with what its environment must hold; or what to do to have one. */
export type Executable =
  | { readonly path: string; readonly env: Readonly<Record<string, string>> }
  | {
      /** Without paths: clients see it. */
      readonly missing: string;
      /** For the operator, where `missing` does not say all. */
      readonly detail?: string;
    };
export type ExecutableFinder = () => Promise<Executable>;

/** The headless shell first: it captures 2.9 times as many pages as the full browser. */
const SYSTEM_NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'headless_shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

const IS_ROOT = process.getuid?.() === 0;
/** Browsers of root are started as another user, who must be able to read them (`confinement.ts`). */
const OURS = IS_ROOT ? 0o755 : 0o700;

/**
 * Looks for a browser: the named one; one that Playwright installed; the system's; the one that the optional package
 * @sparticuz/chromium carries. What was found is remembered; as long as nothing is, each call looks again.
 */
export function executableFinder(browserPath: string | undefined): ExecutableFinder {
  let found: Executable | undefined;
  return async () => {
    if (found !== undefined) return found;
    const result = await find(browserPath);
    if ('path' in result) found = result;
    return result;
  };
}

async function find(browserPath: string | undefined): Promise<Executable> {
  if (browserPath !== undefined) {
    return (await isExecutable(browserPath))
      ? { path: browserPath, env: {} }
      : {
          missing: 'no Chromium: the file that --browser-path names cannot be executed',
          detail: `--browser-path ${browserPath} is not a file that can be executed`,
        };
  }
  const system = { platform: process.platform, arch: process.arch, home: homedir(), env: process.env };
  const path =
    (await installedByPlaywright(system)) ??
    (await installedInSystem()) ??
    (await firstExecutable(installedApplications(system)));
  if (path !== undefined) return { path, env: {} };
  const carried = runsPackagedBinary(system) ? await carriedByPackage() : undefined;
  return carried ?? { missing: howToInstall(system) };
}

async function installedByPlaywright(system: System): Promise<string | undefined> {
  const root = playwrightFolder(system);
  const names = await readdir(root).catch(() => []);
  const revisions = names
    .filter((name) => /^chromium(_headless_shell)?-\d+$/.test(name))
    .sort(
      (a, b) =>
        Number(b.includes('shell')) - Number(a.includes('shell')) || b.localeCompare(a, 'en', { numeric: true }),
    );
  for (const revision of revisions) {
    const folders = await readdir(join(root, revision)).catch(() => []);
    for (const folder of folders) {
      const paths = playwrightExecutables(system).map((name) => join(root, revision, folder, name));
      const path = await firstExecutable(paths);
      if (path !== undefined) return path;
    }
  }
  return undefined;
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isExecutable(path)) return path;
  return undefined;
}

async function installedInSystem(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const name of SYSTEM_NAMES) {
    for (const folder of folders) {
      // Debian puts a script in front of it, which would stand between us and the browser when that is to be ended.
      const behind = join(folder, '..', 'lib', 'chromium', name);
      if (await isExecutable(behind)) return behind;
      const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

/**
 * The binary of @sparticuz/chromium, unpacked once for each version into the user's cache folder. The package itself
 * unpacks to fixed names in the system's temporary directory and takes whatever already lies there; so it is let loose
 * in a directory of ours, in a process of its own, and the result is put in place by one rename.
 */
async function carriedByPackage(): Promise<Executable | undefined> {
  const description = packageDescription('@sparticuz/chromium');
  if (description === undefined) return undefined;
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(description, 'utf8')));
  const home = join(await writableCache(), `chromium-${version}`);
  const path = join(home, 'chromium');
  if (!(await isExecutable(path))) {
    const fresh = await mkdtemp(`${home}-`);
    try {
      const unpack = "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())";
      await promisify(execFile)(process.execPath, ['-e', unpack], {
        cwd: dirname(description),
        env: { ...process.env, TMPDIR: fresh },
      });
      await openToUsers(fresh);
      await rename(fresh, home);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      // Another process may have been quicker.
      if (!(await isExecutable(path))) {
        const missing = 'the browser of @sparticuz/chromium could not be unpacked';
        return { missing, detail: `${missing}: ${String(error)}` };
      }
    }
  }
  // It brings fonts for systems that have none.
  const hasFonts = await isReadable('/etc/fonts/fonts.conf');
  return { path, env: hasFonts ? {} : { FONTCONFIG_PATH: join(home, 'fonts') } };
}

/** Lets those run a browser whom it is for, whatever they were let by its package and our umask. */
async function openToUsers(folder: string): Promise<void> {
  const inside = await readdir(folder, { recursive: true });
  await Promise.all(['', ...inside].map((name) => chmod(join(folder, name), OURS)));
}

/** Where a package's package.json is; undefined when the package is not installed. */
function packageDescription(name: string): string | undefined {
  try {
    return findPackageJSON(name, import.meta.url);
  } catch {
    return undefined;
  }
}

async function writableCache(): Promise<string> {
  const own = join(cacheHome(), 'capstan');
  const temporary = join(tmpdir(), `capstan-cache-${process.getuid?.() ?? 0}`);
  // Root's home is closed to others.
  const folders =
    IS_ROOT && process.env.XDG_CACHE_HOME === undefined ? ['/var/cache/capstan', temporary, own] : [own, temporary];
  for (const folder of folders) {
    try {
      if ((await mkdir(folder, { recursive: true, mode: OURS })) !== undefined) await chmod(folder, OURS);
      await access(folder, constants.W_OK);
      if (await isOursAlone(folder)) return folder;
    } catch {
      // The next one may do.
    }
  }
  return mkdtemp(join(tmpdir(), 'capstan-cache-'));
}

/** Anybody can make one of that name in the system's temporary directory, with a browser in it that is not ours. */
async function isOursAlone(folder: string): Promise<boolean> {
  const { uid, mode } = await lstat(folder);
  return uid === (process.getuid?.() ?? uid) && (process.platform === 'win32' || (mode & 0o022) === 0);
}

function cacheHome(): string {
  if (process.env.XDG_CACHE_HOME !== undefined) return process.env.XDG_CACHE_HOME;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
}

const isExecutable = (path: string) => allows(path, constants.X_OK);
const isReadable = (path: string) => allows(path, constants.R_OK);

function allows(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
