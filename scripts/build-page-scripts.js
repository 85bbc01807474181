import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

/*
 * Bundles the scripts that run in pages: each entry of src/page-scripts/entries/ becomes one string, the source of a
 * function. All are written to dist/page-scripts.json or a given file. Plain JavaScript, like build.js, which runs this
 * file; so does src/page/page-scripts.ts in a checkout whose sources are newer.
 */

const root = join(import.meta.dirname, '..');
const entries = join(root, 'src/page-scripts/entries');
const target = resolve(process.argv[2] ?? join(root, 'dist/page-scripts.json'));

const { outputFiles } = await build({
  entryPoints: readdirSync(entries).map((file) => join(entries, file)),
  outdir: 'out',
  bundle: true,
  format: 'esm',
  target: ['chrome140'],
  minify: true,
  legalComments: 'none',
  write: false,
  absWorkingDir: root,
  logLevel: 'warning',
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
