import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Builds dist/, without checking types, which `npm run check` does. npm runs this when it installs the checkout, also
 * for `npm install git+...`, and when it packs it. A checkout without development dependencies has no compiler, and
 * needs no dist/: it runs from src/, without the web interface and the page at /docs.
 */
const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
if (existsSync(compiler)) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  for (const script of ['build-modules.js', 'build-page-scripts.js', 'build-ui.js', 'build-docs-page.js']) {
    execFileSync(process.execPath, [join(root, 'scripts', script)], { cwd: root, stdio: 'inherit' });
  }
} else {
  console.error('dist/ is not built: the development dependencies are not installed');
  if (!['ci', 'install'].includes(process.env.npm_command)) process.exitCode = 1;
}
