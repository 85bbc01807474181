import { globSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { build } from 'esbuild';

/*
 * Fails when a string in src/ holds a program: code that runs in a page is TypeScript in src/page-scripts/, where it
 * has types and opaque nodes. Fails, too, when nothing calls one of its scripts.
 */

const PROGRAM = /=>|\bfunction\b\s*\w*\s*\(|\breturn\b.*;/;
/** Files whose strings wrap a script of the caller or of a library, or run in Node.js or in a page of a report. */
const OTHERS = new Set([
  'src/page/asking/page-scripts.ts',
  'src/actors/playwright/wait-for-function.ts',
  'src/actors/launching/executable.ts',
  'src/archive/page-filter.ts',
]);

const found = globSync('src/**/*.ts').flatMap((file) => {
  if (file.startsWith('src/page-scripts/') || OTHERS.has(file)) return [];
  const programs = stringsOf(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' })).filter((text) =>
    PROGRAM.test(text),
  );
  return programs.map((text) => `${file}: ${JSON.stringify(text.slice(0, 60))}`);
});
for (const line of found) console.error(`a program in a string, which belongs in src/page-scripts/: ${line}`);

const entryPoints = ['src/page-scripts/scripts.ts'];
const { metafile } = await build({ entryPoints, bundle: true, format: 'esm', write: false, metafile: true });
const callers = globSync('src/**/*.ts', { exclude: ['src/page-scripts/**'] }).map((file) => readFileSync(file, 'utf8'));
const uncalled = Object.values(metafile.outputs)
  .flatMap((output) => output.exports)
  .filter((name) => !callers.some((text) => text.includes(`'${name}'`)));
for (const name of uncalled) console.error(`a page script that nothing calls: ${name}`);
process.exitCode = found.length + uncalled.length === 0 ? 0 : 1;

/** The texts of all strings and templates below a node of the syntax tree. */
function stringsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(stringsOf);
  if (node === null || typeof node !== 'object') return [];
  const { type, value, raw }: { type?: unknown; value?: unknown; raw?: unknown } = node;
  if (type === 'StringLiteral') return [String(value)];
  if (type === 'TemplateElement') return [String(raw)];
  return Object.values(node).flatMap(stringsOf);
}
