import { takeTurns } from '../../capture/basics/event-loop-turns.ts';
import type { Snippet } from '../../capture/finding/snippet.ts';
import { snippetsOf } from '../../capture/finding/snippets.ts';
import type { Result } from '../../capture/result/result.ts';
import type { ResultStore } from '../../storage/ports/result-store.ts';

/** Number of pages whose words are in memory at once: each may have 64 Ki characters and 5,000 places. */
const WORDS_TOGETHER = 10;

/** Adds what a condition on words has found. */
export async function withSnippets<T extends Result>(
  results: Pick<ResultStore, 'wordsOf'>,
  words: string | undefined,
  found: readonly T[],
): Promise<readonly (T & { readonly snippets?: readonly Snippet[] })[]> {
  if (words === undefined) return found;
  const all: (T & { readonly snippets: readonly Snippet[] })[] = [];
  const letOthers = takeTurns();
  for (let from = 0; from < found.length; from += WORDS_TOGETHER) {
    const some = found.slice(from, from + WORDS_TOGETHER);
    const packed = await results.wordsOf(some.map(({ id }) => id));
    for (const result of some) {
      await letOthers();
      all.push({ ...result, snippets: snippetsOf(packed.get(result.id) ?? '', words) });
    }
  }
  return all;
}
