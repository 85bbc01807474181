import { execFile } from 'node:child_process';
import { access, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { siteForSuite } from '../support/for-suite.ts';
import { copyOfCheckout } from '../support/package.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Time limit for a test, in milliseconds: npm unpacks about 300 packages, and twice for a git URL. */
const INSTALL_MS = 400_000;
const run = promisify(execFile);

describe.concurrent('installing into a fresh project', () => {
  const site = siteForSuite();
  let dir: string;
  let repository: string;

  beforeAll(async () => {
    dir = await makeDirectory();
    repository = join(dir, 'repository');
    await copyOfCheckout(repository);
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.org', ...args], { cwd: repository });
    await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'as it is');
  });

  it('works from a git URL, without dist/ in the repository', { timeout: INSTALL_MS }, async () => {
    const project = await freshProject('from-git');
    await npm(project, 'install', `git+file://${repository}`);
    await expectWorking(project);
  });

  it('works from the tarball that npm pack makes', { timeout: INSTALL_MS }, async () => {
    await symlink(join(ROOT, 'node_modules'), join(repository, 'node_modules'));
    const { stdout } = await npm(repository, 'pack', '--json', '--pack-destination', dir);
    const [, tarball = ''] = /"filename":\s*"([^"]+\.tgz)"/.exec(stdout) ?? [];
    const project = await freshProject('from-tarball');
    await npm(project, 'install', join(dir, tarball));
    await expectWorking(project);
  });

  async function freshProject(name: string): Promise<string> {
    const project = join(dir, name);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }));
    return project;
  }

  /** Asserts that the command captures a page, the library can be imported, and the licences are there. */
  async function expectWorking(project: string): Promise<void> {
    const installed = join(project, 'node_modules/capstan');
    for (const file of [
      'LICENSE',
      'NOTICE',
      'CHANGELOG.md',
      'docs/options.md',
      'dist/mod.d.ts',
      'dist/ui/index.html',
    ]) {
      await access(join(installed, file));
    }
    await expect(access(join(installed, 'src'))).rejects.toThrow('ENOENT');

    const args = ['shot', site.url('/short'), '--out-dir', 'shots', '--allow-targets', site.host];
    const shot = await run(join(project, 'node_modules/.bin/capstan'), args, { cwd: project, env: environment() });
    expect(shot.stdout).toMatch(/\.png/);

    const program = `
      import { createService } from 'capstan';
      import { IpapiClient } from 'capstan/ipinfo';
      console.log(typeof createService, typeof IpapiClient);`;
    const imported = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: project });
    expect(imported.stdout).toBe('function function\n');
  }
});

function npm(cwd: string, ...args: readonly string[]): Promise<{ readonly stdout: string }> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  return run('npm', [...args, ...quiet], { cwd, env: environment() });
}

/** Returns the environment without the variables that npm sets for its scripts, and with our Node.js first in PATH. */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(CAPSTAN|npm)_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
  };
}
