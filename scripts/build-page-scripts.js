import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

/*
 * Bundles the scripts that run in pages: each export of src/page-scripts/scripts.ts becomes one string, the source of a
 * function. All are written to dist/page-scripts.json or a given file. Plain JavaScript, like build.js, which runs this
 * file; so does src/page/asking/page-scripts.ts in a checkout whose sources are newer.
 */

const root = join(import.meta.dirname, '..');
const room = join(root, 'src/page-scripts');
const target = resolve(process.argv[2] ?? join(root, 'dist/page-scripts.json'));
const shared = {
  outdir: 'out',
  bundle: true,
  format: 'esm',
  target: ['chrome140'],
  minify: true,
  legalComments: 'none',
  write: false,
  absWorkingDir: root,
  logLevel: 'warning',
};

/** Gives each script an entry point of its own, in which there is nothing that it does not use. */
const oneEach = {
  name: 'one-each',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^script:/ }, ({ path }) => ({ path: path.slice('script:'.length), namespace: 'script' }));
    onLoad({ filter: /./, namespace: 'script' }, ({ path }) => ({
      contents: `export { ${path} as run } from './scripts.ts'`,
      resolveDir: room,
    }));
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
  },
};

const { metafile } = await build({ ...shared, entryPoints: [join(room, 'scripts.ts')], metafile: true });
const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
const { outputFiles } = await build({
  ...shared,
  entryPoints: names.map((name) => ({ in: `script:${name}`, out: name })),
  plugins: [oneEach],
});

const scripts = outputFiles.map(({ path, text }) => [basename(path, '.js'), functionOf(path, text)]);
mkdirSync(dirname(target), { recursive: true });
// Renamed, because a service may start meanwhile.
const temporary = `${target}.${process.pid}`;
writeFileSync(temporary, JSON.stringify(Object.fromEntries(scripts)));
renameSync(temporary, target);

/** Returns the source of a function that calls `run` of a bundled module. */
function functionOf(path, module) {
  const end = /export\{(?:(\S+) as )?run\};\s*$/.exec(module);
  if (end === null) throw new Error(`${path}: exports something other than run`);
  return `function(){"use strict";${module.slice(0, end.index)}return ${end[1] ?? 'run'}(...arguments)}`;
}
