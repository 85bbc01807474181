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

/** A Chromium executable and the environment variables that it needs, or instructions to install one. */
export type Executable =
  | { readonly path: string; readonly env: Readonly<Record<string, string>> }
  | {
      /** Text for clients, without paths. */
      readonly missing: string;
      /** Further text for the operator, when `missing` does not say everything. */
      readonly detail?: string;
    };
export type ExecutableFinder = () => Promise<Executable>;

/** Names of system browsers, the headless shell first. Measured: 2.9 times as many captures as the full browser. */
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
/** File mode of our files. Browsers of a root service run as another user, who must read them (`confinement.ts`). */
const OURS = IS_ROOT ? 0o755 : 0o700;

/**
 * Finds a browser: the configured one, one installed by Playwright, the system's, or the one in the optional package
 * @sparticuz/chromium. A result is cached; while there is none, each call searches again.
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
      // Debian wraps the browser in a script, which would remain between the service and the process to kill.
      const behind = join(folder, '..', 'lib', 'chromium', name);
      if (await isExecutable(behind)) return behind;
      const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

/**
 * Unpacks the binary of @sparticuz/chromium, once per version, into the user's cache folder. The package unpacks to
 * fixed names in the system's temporary directory and uses whatever it finds there; so it runs in its own process with
 * a fresh directory, and one rename puts the result in place.
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
      // Another process may have been faster.
      if (!(await isExecutable(path))) {
        const missing = 'the browser of @sparticuz/chromium could not be unpacked';
        return { missing, detail: `${missing}: ${String(error)}` };
      }
    }
  }
  // The package contains fonts for systems that have none.
  const hasFonts = await isReadable('/etc/fonts/fonts.conf');
  return { path, env: hasFonts ? {} : { FONTCONFIG_PATH: join(home, 'fonts') } };
}

/** Makes the files accessible to the browser's user, whatever the package and the umask set. */
async function openToUsers(folder: string): Promise<void> {
  const inside = await readdir(folder, { recursive: true });
  await Promise.all(['', ...inside].map((name) => chmod(join(folder, name), OURS)));
}

/** Returns the path of a package's package.json; undefined when the package is not installed. */
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
  // Other users cannot read root's home.
  const folders =
    IS_ROOT && process.env.XDG_CACHE_HOME === undefined ? ['/var/cache/capstan', temporary, own] : [own, temporary];
  for (const folder of folders) {
    try {
      if ((await mkdir(folder, { recursive: true, mode: OURS })) !== undefined) await chmod(folder, OURS);
      await access(folder, constants.W_OK);
      if (await isOursAlone(folder)) return folder;
    } catch {
      // Try the next folder.
    }
  }
  return mkdtemp(join(tmpdir(), 'capstan-cache-'));
}

/**
 * Returns whether no other user can write to the folder. In the temporary directory, another user could create the
 * folder first and place a browser in it.
 */
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
