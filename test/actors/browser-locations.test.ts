import { describe, expect, it } from 'vitest';
import {
  howToInstall,
  installedApplications,
  playwrightExecutables,
  playwrightFolder,
  runsPackagedBinary,
} from '../../src/actors/launching/browser-locations.ts';

const linux = { platform: 'linux', arch: 'x64', home: '/home/me', env: {} } as const;
const mac = { platform: 'darwin', arch: 'arm64', home: '/Users/me', env: {} } as const;
const windows = {
  platform: 'win32',
  arch: 'x64',
  home: 'C:\\Users\\me',
  env: { PROGRAMFILES: 'C:\\Program Files' },
} as const;

describe('browser locations', () => {
  it('looks in the folder of Playwright on each system', () => {
    expect(playwrightFolder(linux)).toBe('/home/me/.cache/ms-playwright');
    expect(playwrightFolder({ ...linux, env: { XDG_CACHE_HOME: '/c' } })).toBe('/c/ms-playwright');
    expect(playwrightFolder(mac)).toBe('/Users/me/Library/Caches/ms-playwright');
    expect(playwrightFolder(windows)).toBe('C:\\Users\\me\\AppData\\Local\\ms-playwright');
    expect(playwrightFolder({ ...mac, env: { PLAYWRIGHT_BROWSERS_PATH: '/p' } })).toBe('/p');
  });

  it('looks for executables by the names that they have on each system', () => {
    expect(playwrightExecutables(windows)).toContain('chrome-headless-shell.exe');
    expect(playwrightExecutables(mac)).toContain('Chromium.app/Contents/MacOS/Chromium');
    expect(playwrightExecutables(linux)).toEqual(['chrome-headless-shell', 'headless_shell', 'chrome']);
  });

  it('looks in the application folders of macOS and Windows', () => {
    expect(installedApplications(mac)).toContain('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome');
    expect(installedApplications(windows)).toContain('C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe');
    expect(installedApplications(linux)).toEqual([]);
  });

  it('looks in the npm package only on Linux x64', () => {
    expect([linux, mac, windows, { ...linux, arch: 'arm64' }].map(runsPackagedBinary)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('returns an installation hint for each system', () => {
    expect(howToInstall(linux)).toContain('apt-get');
    expect(howToInstall(mac)).not.toContain('apt-get');
  });
});
