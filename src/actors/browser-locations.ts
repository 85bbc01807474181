import { join, win32 } from 'node:path';

/** What the places of browsers depend on. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The folder in which Playwright keeps its browsers, as its documentation names it for each system. */
export function playwrightFolder({ platform, home, env }: System): string {
  if (env.PLAYWRIGHT_BROWSERS_PATH !== undefined) return env.PLAYWRIGHT_BROWSERS_PATH;
  if (platform === 'win32') return win32.join(home, 'AppData', 'Local', 'ms-playwright');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'ms-playwright');
  return join(env.XDG_CACHE_HOME ?? join(home, '.cache'), 'ms-playwright');
}

/** Paths of the executable within a folder of Playwright's browsers, the headless shell first. */
export function playwrightExecutables({ platform }: System): readonly string[] {
  if (platform === 'win32') return ['chrome-headless-shell.exe', 'headless_shell.exe', 'chrome.exe'];
  const names = ['chrome-headless-shell', 'headless_shell', 'chrome'];
  if (platform !== 'darwin') return names;
  return [...names, ...['Google Chrome for Testing', 'Chromium'].map(inApplication)];
}

/** Full paths at which installers put a browser that is not in `PATH`. */
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

/** Whether the npm package's binary, which is one for Linux on x64, can run. */
export function runsPackagedBinary({ platform, arch }: System): boolean {
  return platform === 'linux' && arch === 'x64';
}

/** What to do to have a browser. */
export function howToInstall({ platform }: System): string {
  const packaged = platform === 'linux' ? 'apt-get install chromium-headless-shell, or ' : '';
  return `no Chromium was found: install one (${packaged}npx playwright-core install chromium-headless-shell), or name one with --browser-path`;
}

function inApplication(name: string): string {
  return `${name}.app/Contents/MacOS/${name}`;
}
