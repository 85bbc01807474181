import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { executableFinder } from '../../src/actors/launching/executable.ts';
import { writeScript } from '../support/browser-script.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

describe('the browser executable', () => {
  let root: string;
  beforeEach(async () => {
    root = await makeDirectory();
    vi.stubEnv('PATH', join(root, 'bin'));
    vi.stubEnv('PLAYWRIGHT_BROWSERS_PATH', join(root, 'playwright'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
  });

  const install = async (...path: string[]): Promise<string> => {
    const file = join(root, ...path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeScript(file, '');
    return file;
  };
  const found = (browserPath?: string) => executableFinder(browserPath)();

  it('prefers the configured browser to all others', async () => {
    await install('bin', 'chromium');
    const named = await install('mine');
    expect(await found(named)).toEqual({ path: named, env: {} });
  });

  it('reports that the configured browser does not exist, and uses no other', async () => {
    await install('bin', 'chromium');
    expect(await found('/no/such/file')).toEqual({
      missing: 'no Chromium: the file that --browser-path names cannot be executed',
      detail: '--browser-path /no/such/file is not a file that can be executed',
    });
  });

  it("prefers the newest headless shell that Playwright installed to the system's", async () => {
    await install('bin', 'chromium-headless-shell');
    await install('playwright', 'chromium-1300', 'chrome-linux', 'chrome');
    await install('playwright', 'chromium_headless_shell-999', 'chrome-linux', 'headless_shell');
    const newest = await install('playwright', 'chromium_headless_shell-1200', 'chrome-linux', 'headless_shell');
    expect(await found()).toEqual({ path: newest, env: {} });
  });

  it("prefers the system's headless shell to its full browser", async () => {
    await install('bin', 'google-chrome');
    await install('bin', 'chromium');
    const shell = await install('bin', 'chromium-headless-shell');
    expect(await found()).toEqual({ path: shell, env: {} });
  });

  it("finds Debian's browser itself, not its wrapper script", async () => {
    await install('bin', 'chromium-headless-shell');
    const shell = await install('lib', 'chromium', 'chromium-headless-shell');
    expect(await found()).toEqual({ path: shell, env: {} });
  });

  describe('of the optional package, when no other is found', () => {
    let cache: string;
    beforeAll(async () => {
      cache = await makeDirectory();
    });
    beforeEach(() => {
      vi.stubEnv('XDG_CACHE_HOME', cache);
    });

    const expectRuns = async (path: string, user = {}) => {
      const { stdout } = await promisify(execFile)(path, ['--version'], user);
      expect(stdout).toMatch(/^Chromium \d+/);
    };

    it('is unpacked once, and runs', async () => {
      const [first, second] = await Promise.all([found(), found()]);
      if ('missing' in first) throw new Error(first.missing);
      expect(second).toEqual(first);
      expect(first.path.slice(cache.length)).toMatch(/^\/capstan\/chromium-[\d.]+\/chromium$/);
      await expectRuns(first.path);
    });

    // As root, run it as another user, as browsers are.
    it.runIf(process.getuid?.() === 0)('runs as another user when root unpacked it (needs root)', async () => {
      const unpacked = await found();
      if ('missing' in unpacked) throw new Error(unpacked.missing);
      await expectRuns(unpacked.path, { uid: 65534, gid: 65534, cwd: '/' });
    });
  });

  it('never uses a browser from an unpacking directory that other users can write to', async () => {
    await writeFile(join(root, 'no-folder'), '');
    vi.stubEnv('XDG_CACHE_HOME', join(root, 'no-folder'));
    vi.stubEnv('TMPDIR', root);
    const description = findPackageJSON('@sparticuz/chromium', import.meta.url) ?? '';
    const { version } = JSON.parse(await readFile(description, 'utf8'));
    const cache = `capstan-cache-${process.getuid?.() ?? 0}`;
    const placed = await install(cache, `chromium-${version}`, 'chromium');
    const theirs = join(root, cache);
    await chmod(theirs, 0o700);
    expect(await found()).toMatchObject({ path: placed });
    await chmod(theirs, 0o777);
    const other = await found();
    if ('missing' in other) throw new Error(other.missing);
    expect(other.path.startsWith(`${theirs}/`)).toBe(false);
  });
});
