import type { ResultStore } from '../ports/result-store.ts';

const PAGE = 250;

/** Returns captures whose words are stored, and whose records are not. */
export async function strayWords(results: Pick<ResultStore, 'indexed' | 'keyOf'>): Promise<readonly number[]> {
  for (let after = 0; ; ) {
    const ids = await results.indexed(PAGE, after);
    const owners = await Promise.all(ids.map((id) => results.keyOf(id)));
    const strays = ids.filter((_, at) => owners[at] === undefined);
    if (strays.length > 0 || ids.length < PAGE) return strays;
    after = ids.at(-1) ?? after;
  }
}
