import type { ElementsDifference, Ignore } from '../../../capture/comparison/comparison.ts';
import type { Pair } from '../compared.ts';
import type { Pixels } from '../pixels.ts';
import { changedElements, editsOf } from './changed-elements.ts';
import type { Explained } from './explain-regions.ts';
import { matchElements } from './match-elements.ts';
import { readTree, withDescendants } from './page-tree.ts';
import { selectElements } from './select-elements.ts';

/** Known facts of the elements of two captures. */
export interface ComparedElements extends Explained {
  readonly difference: ElementsDifference;
}

/** Compares two element maps; null when one of them is not readable. `only`: selectors of the elements to list. */
export function compareElements(
  maps: Pair<string>,
  images: Pair<Pixels> | null,
  { selectors }: Ignore,
  only: readonly string[] | null,
): ComparedElements | null {
  const [a, b] = [readTree(maps[0]), readTree(maps[1])];
  if (a === null || b === null) return null;
  const ignored = {
    a: withDescendants(selectElements(a, selectors)),
    b: withDescendants(selectElements(b, selectors)),
  };
  const matching = matchElements(a, b);
  const edits = editsOf(matching).filter((edit) => !ignored.a.has(edit.a) && !ignored.b.has(edit.b));
  const wanted = only === null ? null : { a: selectElements(a, only), b: selectElements(b, only) };
  const { changes, truncated } = changedElements(
    matching,
    edits,
    { tree: a, size: images?.[0] ?? null, ignored: ignored.a },
    { tree: b, size: images?.[1] ?? null, ignored: ignored.b },
    wanted,
  );
  const difference = { changes, truncated: truncated || a.isPartial || b.isPartial };
  return { trees: { a, b }, matching, edits, ignored, difference };
}
