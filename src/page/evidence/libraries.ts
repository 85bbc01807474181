import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { bounded } from '../../capture/basics/bounded.ts';
import { whenFirstAsked } from '../../capture/basics/once.ts';
import type { Noted, NotedLibrary } from '../../capture/result/evidence.ts';
import { callWithModule, type ResultOf } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';
import { Tally } from './tally.ts';

const MAX_LIBRARIES = 50;
const MAX_CHARACTERS = 64;
/** Time limit for code that the tests call in the page without waiting, in milliseconds. */
const TESTS_MS = 500;
/** The variable of the package js-library-detector, which exports nothing. */
const TESTS = 'd41d8cd98f00b204e9800998ecf8427e_LibraryDetectorTests';

const named: z.ZodType<ResultOf<'findLibraries'>> = z.array(z.tuple([z.string(), z.string()]));

const expression = whenFirstAsked(async () => {
  const source = await readFile(createRequire(import.meta.url).resolve('js-library-detector'), 'utf8');
  return callWithModule('findLibraries', `${source};module.exports=${TESTS}`, 2 * MAX_LIBRARIES);
});

/**
 * Returns the libraries that run in the page, by the tests of js-library-detector. They look at what scripts have set,
 * so they run among the scripts of the page, which can deceive them.
 */
export async function notedLibraries(session: PageSession): Promise<Noted<NotedLibrary>> {
  const { result } = await session.send('Runtime.evaluate', {
    expression: await expression(),
    awaitPromise: true,
    returnByValue: true,
    silent: true,
    timeout: TESTS_MS,
  });
  const { data = [] } = named.safeParse(result.value);
  const libraries = new Map<string, string>();
  for (const [tested, version] of data) {
    // A library may have a second test, which is faster.
    const name = bounded(tested.replace(' (Fast path)', ''), MAX_CHARACTERS);
    if ((libraries.get(name) ?? '') === '')
      libraries.set(name, /^\d/.test(version) ? bounded(version, MAX_CHARACTERS) : '');
  }
  const tally = new Tally<NotedLibrary>(MAX_LIBRARIES);
  for (const [name, version] of libraries) tally.note({ name, version });
  return tally.noted;
}
