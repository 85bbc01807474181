import { join, resolve } from 'node:path';
import { build } from 'esbuild';

/*
 * Bundles the modules of src/ into dist/ or a given directory: `capstan serve` reads and links 67 files in place of
 * 525, which saves a fifth of the CPU time of its start. Packages stay outside. Plain JavaScript, like build.js, which
 * runs this file.
 */

const root = join(import.meta.dirname, '..');

await build({
  entryPoints: {
    main: 'src/main.ts',
    mod: 'src/mod.ts',
    'client/mod': 'src/client/mod.ts',
    'ipinfo/mod': 'src/ipinfo/mod.ts',
    // Threads, see src/own-files.ts.
    'imaging/comparison/worker': 'src/imaging/comparison/worker.ts',
    'storage/sqlite/worker': 'src/storage/sqlite/worker.ts',
  },
  outdir: resolve(process.argv[2] ?? join(root, 'dist')),
  // Code that several of them import, or that is imported on demand. src/own-files.ts has to be in dist/ itself.
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  absWorkingDir: root,
  logLevel: 'warning',
});
