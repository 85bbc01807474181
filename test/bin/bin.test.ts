import { execFile } from 'node:child_process';
import { access, cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startSite } from '../fixtures/site.ts';
import { PACKAGE } from '../support/package.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const manifestSchema = z.looseObject({
  version: z.string(),
  engines: z.object({ node: z.string() }),
});
const manifest = manifestSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. */
function run(command: string, args: readonly string[], cwd = ROOT): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

/** Returns the path of a Node.js on this machine that is older than the required one. */
async function olderNode(): Promise<string | undefined> {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(dir, 'node');
    const { code, stdout } = await run(node, ['--version']);
    if (code === 0 && Number.parseInt(stdout.slice(1), 10) < Number.parseInt(manifest.engines.node.slice(2), 10))
      return node;
  }
  return undefined;
}

const older = await olderNode();

describe('bin/capstan.js', () => {
  it('runs the TypeScript sources in a checkout', async () => {
    expect(await run(process.execPath, ['bin/capstan.js', '--version'])).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    });
  });

  it('starts through a link, as npm installs it', async () => {
    const dir = await makeDirectory();
    await symlink(join(ROOT, 'bin/capstan.js'), join(dir, 'capstan'));
    expect((await run(process.execPath, [join(dir, 'capstan'), '--version'])).stdout).toBe(`${manifest.version}\n`);
  });

  it('explains in one line what to do when the Node version is too old', async () => {
    const dir = await makeDirectory();
    await cp(join(ROOT, 'bin'), join(dir, 'bin'), { recursive: true });
    await writeFile(join(dir, 'package.json'), JSON.stringify({ ...manifest, engines: { node: '>=99.1' } }));
    const { code, stdout, stderr } = await run(process.execPath, [join(dir, 'bin/capstan.js'), '--version']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^capstan: needs Node\.js 99\.1 or newer, but this is v\d.*npm start.*nodejs\.org.*\n$/);
  });

  it.skipIf(older === undefined)('prints the same line on an older Node.js', async () => {
    const { code, stderr } = await run(older ?? '', ['bin/capstan.js', '--version']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^capstan: needs Node\.js .*\n$/);
  });
});

describe('the published package', () => {
  let dir: string;
  let installed: string;
  const npm = promisify(execFile);

  /** Packs and unpacks the built package under node_modules of another project, where Node.js strips no types. */
  beforeAll(async () => {
    dir = await makeDirectory();
    installed = join(dir, 'node_modules/capstan');
    await cp(PACKAGE, join(dir, 'tree'), { recursive: true });
    await cp(join(ROOT, 'src'), join(dir, 'tree/src'), { recursive: true });
    await npm('npm', ['pack', '--ignore-scripts', '--pack-destination', dir], { cwd: join(dir, 'tree') });
    await npm('tar', ['-xzf', `capstan-${manifest.version}.tgz`], { cwd: dir });
    await cp(join(dir, 'package'), installed, { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
  });

  it('contains the command, configuration files to copy and the library, and no sources', async () => {
    for (const file of ['bin/capstan.js', 'bin/package.json', 'config/production.json', 'dist/main.js']) {
      await access(join(installed, file));
    }
    for (const entry of ['dist/mod', 'dist/client/mod', 'dist/ipinfo/mod']) {
      await access(join(installed, `${entry}.js`));
    }
    await expect(access(join(installed, 'src'))).rejects.toThrow('ENOENT');
  });

  it('runs its command', async () => {
    const { code, stdout, stderr } = await run(process.execPath, [join(installed, 'bin/capstan.js'), '--version'], dir);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('finds its default configuration', async () => {
    const { code, stdout } = await run(
      process.execPath,
      [join(installed, 'bin/capstan.js'), 'serve', '--print-config'],
      dir,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ port: 8080 });
  });

  it('compares images, in a thread', async () => {
    const { default: sharp } = await import('sharp');
    for (const background of ['red', 'blue']) {
      const image = sharp({ create: { width: 60, height: 40, channels: 3, background } });
      await image.png().toFile(join(dir, `${background}.png`));
    }
    const compare = (after: string) =>
      run(process.execPath, [join(installed, 'bin/capstan.js'), 'diff', 'red.png', `${after}.png`], dir);
    expect((await compare('red')).code).toBe(0);
    expect((await compare('blue')).code).toBe(1);
  });

  it('exports the service and the IP client', async () => {
    const program = `
      import { createService } from 'capstan';
      import { IpapiClient } from 'capstan/ipinfo';
      console.log(typeof createService, typeof IpapiClient);`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program], dir);
    expect({ stdout, stderr: stderr.replace(/^.*(SQLite|trace-warnings).*\n/gm, '') }).toEqual({
      stdout: 'function function\n',
      stderr: '',
    });
  });

  it('captures pages from an embedding program: examples/embed.ts, unchanged', async () => {
    const site = await startSite();
    await cp(join(ROOT, 'examples/embed.ts'), join(dir, 'embed-example.ts'));
    const url = site.url('/short');
    const { stdout, stderr } = await run(process.execPath, ['--no-warnings', 'embed-example.ts', url], dir);
    await site.close();
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^capturing http:\/\/127\.0\.0\.1:\d+\/short\nstored \d+: .+\n$/),
      stderr: '',
    });
  });
});
