import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The command of the checkout, which runs `src/`. */
export const BIN_OF_CHECKOUT = join(ROOT, 'bin/capstan.js');

/** The package that was built for this run, or the checkout where none was. */
export const PACKAGE = process.env.BUILT_PACKAGE ?? ROOT;

/** Its command. */
export const BIN = join(PACKAGE, 'bin/capstan.js');

/**
 * Builds the package into `dir`, with the files that npm packs, but for the web interface and declarations of types.
 */
export async function buildPackage(dir: string): Promise<void> {
  await run(process.execPath, [join(ROOT, 'scripts/build-modules.js'), join(dir, 'dist')]);
  await run(process.execPath, [join(ROOT, 'scripts/build-page-scripts.js'), join(dir, 'dist/page-scripts.json')]);
  for (const part of ['package.json', 'bin', 'config']) {
    await cp(join(ROOT, part), join(dir, part), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
}

/** Adds the declarations of types to a built package. */
export async function declareTypes(dir: string): Promise<void> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', join(dir, 'dist')], { cwd: ROOT });
}

/** Makes a project in `dir` that has the built package installed, as `npm install` would leave it. */
export async function projectWith(built: string, dir: string): Promise<void> {
  await mkdir(join(dir, 'node_modules/.bin'), { recursive: true });
  await symlink(built, join(dir, 'node_modules/capstan'));
  await symlink('../capstan/bin/capstan.js', join(dir, 'node_modules/.bin/capstan'));
  await symlink(join(ROOT, 'node_modules/@types'), join(dir, 'node_modules/@types'));
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'reader', private: true, type: 'module' }));
}

/** Copies the checkout to `dir`, as `git clone` would: the files that git tracks, as they are in the working tree. */
export async function copyOfCheckout(dir: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await cp(join(ROOT, file), join(dir, file)).catch((error: NodeJS.ErrnoException) => {
      // Removed in the working tree, and not yet in the index.
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Copies the checkout to `dir`, with what `npm ci` has installed. */
export async function installedCheckout(dir: string): Promise<void> {
  await copyOfCheckout(dir);
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  await run(process.execPath, ['scripts/build-device-list.js'], { cwd: dir });
}
