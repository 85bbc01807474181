import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Builds the device list and dist/, without checking types, which `npm run check` does. npm runs this when it installs
 * the checkout, also for `npm install git+...`, and when it packs it. A checkout without development dependencies has
 * no compiler, and needs no dist/: it runs from src/, without the web interface and the page at /docs.
 */
const root = join(import.meta.dirname, '..');
const run = (script) =>
  execFileSync(process.execPath, [join(root, 'scripts', script)], { cwd: root, stdio: 'inherit' });

const compiler = join(root, 'node_modules/typescript/bin/tsc');
if (existsSync(compiler)) {
  run('build-device-list.js');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  ['build-modules.js', 'build-page-scripts.js', 'build-ui.js', 'build-docs-page.js'].forEach(run);
} else {
  console.error('dist/ is not built: the development dependencies are not installed');
  if (['ci', 'install'].includes(process.env.npm_command)) run('build-device-list.js');
  else process.exitCode = 1;
}
