import { web } from '../dom/web.ts';

/** Tests of libraries by their names, as js-library-detector has them. */
type Tests = Readonly<Record<string, { readonly test: (window: object) => unknown }>>;

/** Runs a CommonJS module that exports the tests. */
type Load = (module: { exports: Tests }, exports: object) => void;

/**
 * Returns the names and versions of at most this many libraries that run in the page. It looks at what scripts have
 * set, so it runs in the page's own world.
 */
export async function findLibraries(load: Load, most: number): Promise<(readonly [name: string, version: string])[]> {
  const module: { exports: Tests } = { exports: {} };
  load(module, module.exports);
  const found = await Promise.all(
    Object.entries(module.exports).map(async ([name, { test }]) => {
      try {
        const library = await test(web);
        if (typeof library !== 'object' || library === null) return [];
        return [[name, 'version' in library ? String(library.version ?? '') : ''] as const];
      } catch {
        return [];
      }
    }),
  );
  return found.flat().slice(0, most);
}
