import { globSync, readFileSync } from 'node:fs';

/*
 * Fails when a name that src/ or ui/ exports occurs in no other file: the `export` is unused, or all of it.
 * Does not find unused exports whose name occurs elsewhere by chance. knip would, but its parser needs a package for
 * each system, which the lock file did not list for all.
 */

const EXPORTED = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm;
const USERS = ['src', 'ui', 'test', 'bench', 'scripts', 'examples'].map((folder) => `${folder}/**/*.{ts,tsx,js,mjs}`);

const texts = new Map(globSync(USERS).map((file) => [file, readFileSync(file, 'utf8')]));
/** The number of files in which each word occurs. */
const files = new Map<string, number>();
for (const text of texts.values()) {
  for (const word of new Set(text.match(/\w+/g))) files.set(word, (files.get(word) ?? 0) + 1);
}

const unused = [...texts].flatMap(([file, text]) =>
  /^(?:src|ui)\//.test(file)
    ? [...text.matchAll(EXPORTED)].flatMap(([, name = '']) => (files.get(name) === 1 ? [`${file}: ${name}`] : []))
    : [],
);
for (const line of unused) console.error(`exported, and used in no other file: ${line}`);
process.exitCode = unused.length === 0 ? 0 : 1;
