import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/*
 * Bundles the web interface from ui/ into dist/ui/ or a given directory: a page, and scripts and a style sheet with
 * their hashes in their names. Each file is also written compressed. Plain JavaScript, like build.js, which runs this
 * file.
 */

const root = join(import.meta.dirname, '..');
const ui = join(root, 'ui');
const outdir = resolve(process.argv[2] ?? join(root, 'dist/ui'));

rmSync(outdir, { recursive: true, force: true });
const { outputFiles, metafile } = await build({
  entryPoints: { main: join(ui, 'main.tsx') },
  outdir: join(outdir, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2023'],
  minify: true,
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
  write: false,
  absWorkingDir: root,
  logLevel: 'warning',
});

for (const { path, contents } of outputFiles) write(path, contents);

const [script, { cssBundle: style, imports }] = Object.entries(metafile.outputs).find(
  ([, { entryPoint }]) => entryPoint === 'ui/main.tsx',
);
const preloads = imports
  .filter(({ kind }) => kind === 'import-statement')
  .map(({ path }) => `<link rel="modulepreload" href="${hrefOf(path)}">`);
const page = readFileSync(join(ui, 'index.html'), 'utf8')
  .replace('%STYLE%', hrefOf(style))
  .replace('%SCRIPT%', hrefOf(script))
  .replace('%PRELOADS%', preloads.join('\n    '));
const icon = readFileSync(join(ui, 'icon.svg'));
const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
write(join(outdir, 'assets', iconName), icon);
write(join(outdir, 'index.html'), Buffer.from(page.replace('%ICON%', `assets/${iconName}`)));

writeFileSync(join(outdir, 'licenses.txt'), licensesOf(Object.keys(metafile.inputs)).join('\n\n'));

/** Returns the name and the licence of every package that is in the bundle. */
function licensesOf(inputs) {
  const names = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    return `${name}\n\n${readFileSync(join(folder, license), 'utf8').trim()}`;
  });
}

/** Relative, because a proxy may serve the interface below any path. The service answers it at every view. */
function hrefOf(output) {
  return `assets/${basename(output)}`;
}

function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params }));
}
