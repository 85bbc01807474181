import { join, win32 } from 'node:path';

/** The facts about a system on which the locations of browsers depend. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the folder in which Playwright keeps its browsers, as documented for each system. */
export function playwrightFolder({ platform, home, env }: System): string {
  if (env.PLAYWRIGHT_BROWSERS_PATH !== undefined) return env.PLAYWRIGHT_BROWSERS_PATH;
  if (platform === 'win32') return win32.join(home, 'AppData', 'Local', 'ms-playwright');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'ms-playwright');
  return join(env.XDG_CACHE_HOME ?? join(home, '.cache'), 'ms-playwright');
}

/** Returns the paths of executables within one of Playwright's browser folders, the headless shell first. */
export function playwrightExecutables({ platform }: System): readonly string[] {
  if (platform === 'win32') return ['chrome-headless-shell.exe', 'headless_shell.exe', 'chrome.exe'];
  const names = ['chrome-headless-shell', 'headless_shell', 'chrome'];
  if (platform !== 'darwin') return names;
  return [...names, ...['Google Chrome for Testing', 'Chromium'].map(inApplication)];
}

/** Returns full paths at which installers place browsers that are not in `PATH`. */
export function installedApplications({ platform, home, env }: System): readonly string[] {
  if (platform === 'darwin') {
    const applications = ['Google Chrome', 'Chromium'].map(inApplication);
    return ['/Applications', join(home, 'Applications')].flatMap((folder) =>
      applications.map((application) => join(folder, application)),
    );
  }
  if (platform !== 'win32') return [];
  return [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA]
    .filter((folder) => folder !== undefined)
    .flatMap((folder) =>
      ['Google\\Chrome', 'Chromium'].map((product) => win32.join(folder, product, 'Application', 'chrome.exe')),
    );
}

/** Returns whether the binary of the npm package, which is built for Linux x64 only, can run. */
export function runsPackagedBinary({ platform, arch }: System): boolean {
  return platform === 'linux' && arch === 'x64';
}

/** Returns an error text that says how to install a browser. */
export function howToInstall({ platform }: System): string {
  const packaged = platform === 'linux' ? 'apt-get install chromium-headless-shell, or ' : '';
  return `no Chromium was found: install one (${packaged}npx playwright install chromium-headless-shell), or name one with --browser-path`;
}

function inApplication(name: string): string {
  return `${name}.app/Contents/MacOS/${name}`;
}
