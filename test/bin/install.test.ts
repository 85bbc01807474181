import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { siteForSuite } from '../support/for-suite.ts';
import { copyOfCheckout } from '../support/package.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/** Time limit for a test, in milliseconds: npm unpacks about 300 packages, and twice for a git URL. */
const INSTALL_MS = 600_000;
const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

/** Large development dependencies that a build does not need. `npm ci`, with which every run begins, installs them. */
const NOT_FOR_BUILDS = [
  '@biomejs/biome',
  '@kubernetes-models/keda',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/sdk',
  '@swc/core',
  'ajv',
  'ajv-formats',
  'axe-core',
  'dependency-cruiser',
  'feedsmith',
  'kubernetes-models',
  'mongodb-memory-server',
  'node',
  'vitest',
];

describe('installing into a fresh project', () => {
  const site = siteForSuite();
  let dir: string;
  let repository: string;
  let project: string;

  beforeAll(async () => {
    dir = await makeDirectory();
    repository = join(dir, 'repository');
    project = join(dir, 'project');
    await mkdir(project);
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
    await copyOfCheckout(repository);
    const manifest = manifestSchema.parse(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')));
    for (const name of NOT_FOR_BUILDS) delete manifest.devDependencies[name];
    await writeFile(join(repository, 'package.json'), JSON.stringify(manifest));
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.org', ...args], { cwd: repository });
    await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'as it is');
  });

  it('works from a git URL, without dist/ in the repository', { timeout: INSTALL_MS }, async () => {
    await npm(project, 'install', `git+file://${repository}`);
    await expectWorking();
  });

  it('publishes declarations that import only its own dependencies', async () => {
    const imported = new Set<string>();
    const seen = new Set<string>();
    const read = async (file: string): Promise<void> => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = await readFile(file, 'utf8');
      for (const [, specifier = ''] of text.matchAll(/(?:from|import) ?\(?['"]([^'"]+)['"]/g)) {
        const [name = '', scoped = ''] = specifier.split('/');
        if (!specifier.startsWith('.')) imported.add(name.startsWith('@') ? `${name}/${scoped}` : name);
        else await read(join(dirname(file), specifier.replace(/\.(?:js|ts)$/, '.d.ts')));
      }
    };
    const installed = join(project, 'node_modules/capstan');
    await read(join(installed, 'dist/mod.d.ts'));
    await read(join(installed, 'dist/ipinfo/mod.d.ts'));
    const { dependencies } = manifestSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
    const outside = [...imported].filter((name) => !name.startsWith('node:'));
    expect(outside).toEqual(expect.arrayContaining(['rxjs', 'pino']));
    expect(outside.filter((name) => !Object.hasOwn(dependencies, name))).toEqual([]);
  });

  it('publishes declarations that TypeScript accepts', async () => {
    await writeFile(
      join(project, 'embed.mts'),
      `import { type CaptureOutcome, type CaptureService, captureRequest, createService } from 'capstan';
       import { IpapiClient } from 'capstan/ipinfo';
       export const client: IpapiClient = new IpapiClient();
       // @ts-expect-error a service is no number
       export const wrong: number = createService;
       export type Stats = ReturnType<CaptureService['stats']>;
       export const service: CaptureService = await createService({ maxQueue: 5 });
       service.submit(captureRequest('example.com', { format: 'webp' })).subscribe((outcome: CaptureOutcome) => outcome);
       service.events$.subscribe((event) => event.type === 'capture.stored' && event.result.title.length);
       // @ts-expect-error there is no such option
       export const misspelt = createService({ maxQue: 5 });
       // @ts-expect-error a client is no number
       export const wrongToo: number = client;`,
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const checking = run(process.execPath, [tsc, ...options, ...types, 'embed.mts'], { cwd: project });
    expect(await checking.catch(({ stdout }) => ({ stdout }))).toMatchObject({ stdout: '' });
  });

  // npm installs from a git URL what it packs there, so a second installation would show nothing more.
  it('packs in a checkout the files that it packs from a git URL, but for dist/', { timeout: INSTALL_MS }, async () => {
    const { stdout } = await npm(repository, 'pack', '--ignore-scripts', '--json', '--pack-destination', dir);
    const [, tarball = ''] = /"filename":\s*"([^"]+\.tgz)"/.exec(stdout) ?? [];
    const packed = (await run('tar', ['-tzf', join(dir, tarball)])).stdout.trim().split('\n');
    const installed = await readdir(join(project, 'node_modules/capstan'), { recursive: true, withFileTypes: true });
    const files = installed.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const own = files.map((file) => relative(join(project, 'node_modules/capstan'), file));
    expect(packed.map((file) => file.replace('package/', '')).sort()).toEqual(
      own.filter((file) => !/^(?:node_modules|dist)\//.test(file)).sort(),
    );
  });

  it('builds dist/ before it packs in a checkout: without the compiler, it packs nothing', async () => {
    await expect(npm(repository, 'pack', '--pack-destination', dir)).rejects.toThrow(
      'dist/ is not built: the development dependencies are not installed',
    );
  });

  /** Asserts that the command captures a page, the library can be imported, and the licences are there. */
  async function expectWorking(): Promise<void> {
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
