import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../own-files.ts';

/** The scripts that run in a page, by name. */
export type PageScripts = typeof import('../../page-scripts/scripts.ts');

/** A call of a page script: JavaScript that can be evaluated in a page. No other string is of this type. */
export type Call<Result = unknown> = string & { readonly [calls]: Result };
declare const calls: unique symbol;

/** The result of a script; of an asynchronous one, the value of its promise. */
export type ResultOf<Name extends keyof PageScripts> = Awaited<ReturnType<PageScripts[Name]>>;

const SOURCES: Readonly<Record<string, string>> = JSON.parse(readFileSync(builtScripts(), 'utf8'));

/** Returns a call of a script with these arguments, which are copied as JSON. */
export function call<Name extends keyof PageScripts>(
  name: Name,
  ...given: Parameters<PageScripts[Name]>
): Call<ResultOf<Name>> {
  const copies = given.map((each) => JSON.stringify(each) ?? 'undefined');
  return `(${functionOf(name)})(${copies.join(',')})` as Call<ResultOf<Name>>;
}

/** Returns a call whose first argument is a function that runs a CommonJS module with this source. */
export function callWithModule<Name extends keyof PageScripts>(
  name: Name,
  source: string,
  ...given: Parameters<PageScripts[Name]> extends [unknown, ...infer Others] ? Others : never
): Call<ResultOf<Name>> {
  const copies = given.map((each) => JSON.stringify(each));
  const load = `(module,exports)=>{${source}\n}`;
  return `(${functionOf(name)})(${[load, ...copies].join(',')})` as Call<ResultOf<Name>>;
}

/** Returns a call of two scripts, of which the second runs right after the first and gives the result. */
export function inTurn<Result>(first: Call, second: Call<Result>): Call<Result> {
  return `(${first},${second})` as Call<Result>;
}

/** Returns the source of a script, for a command that takes a function and objects of the page as its arguments. */
export function functionOf(name: keyof PageScripts): string {
  const source = SOURCES[name];
  if (source === undefined) throw new TypeError(`there is no page script ${name}`);
  return source;
}

/** Returns the file of the scripts. In a checkout, builds it first if a source is newer. */
function builtScripts(): URL {
  const built = ownFile('dist/page-scripts.json');
  const sources = fileURLToPath(ownFile('src/'));
  if (!existsSync(sources)) return built;
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const paths = globSync(['page-scripts/**', 'words/**'], { cwd: sources });
  if (paths.every((path) => statSync(`${sources}/${path}`).mtimeMs < builtAt)) return built;
  execFileSync(process.execPath, [fileURLToPath(ownFile('scripts/build-page-scripts.js'))], { stdio: 'inherit' });
  return built;
}
