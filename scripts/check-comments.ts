import { globSync, readFileSync } from 'node:fs';

/* Fails when a sentence of a comment begins with a relative clause in place of a noun: see "How we write English". */

const FOLDERS = ['src', 'ui', 'test', 'bench', 'scripts', 'examples'].map((folder) => `${folder}/**/*.{ts,tsx,js,mjs}`);
/** The text of a comment in a line, also of one of several lines, each of which begins with `*`. */
const COMMENT = /(?:^\s*\{?\/?\*+|\s\/\*+|(?:^|\s)\/\/)\s+(.*)/;
const RELATIVE = /(?:^|[.!?] )(?:What|Who|Which|One that|One who|That which)\b/;

const found = globSync(FOLDERS, { exclude: ['**/node_modules/**'] }).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) => (RELATIVE.test(COMMENT.exec(line)?.[1] ?? '') ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
);
for (const line of found) {
  console.error(`a comment's sentence must begin with a verb or a noun, not with What, Who, Which, One that: ${line}`);
}
process.exitCode = found.length === 0 ? 0 : 1;
