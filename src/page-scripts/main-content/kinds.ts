import { childrenOf, classOf, isElement, nameOf, type PageElement, parentElementOf } from '../dom/dom.ts';
import type { Run } from './runs.ts';
import type { Sums } from './sums.ts';

/** Siblings of the same kind, and sums over their runs. */
export interface Kind {
  count: number;
  characters: number;
  words: number;
  linked: number;
}

/** The runs at the same path of elements. `logs`: the sum of the logarithms of their words. */
export interface Path {
  runs: number;
  words: number;
  logs: number;
  taken: number;
  readonly texts: Set<string>;
}

/** Elements of the same name and first class are of the same kind. */
const kindOf = (element: PageElement): string => `${nameOf(element)}.${classOf(element).trim().split(/\s+/)[0]}`;

/** Returns what counts the siblings of an element's kind, which hold runs. */
export function siblingsOf(sums: Sums): (element: PageElement) => Kind {
  const known = new Map<PageElement | null, Map<string, Kind>>();
  const kindsIn = (parent: PageElement) => {
    const kinds = new Map<string, Kind>();
    for (const child of childrenOf(parent)) {
      const sum = sums.of(child);
      if (sum === undefined) continue;
      const key = kindOf(child);
      const kind = kinds.get(key) ?? { count: 0, characters: 0, words: 0, linked: 0 };
      kinds.set(key, kind);
      kind.count += 1;
      kind.characters += sum.characters;
      kind.words += sum.words;
      kind.linked += sum.linked;
    }
    return kinds;
  };
  return (element) => {
    const parent = parentElementOf(element);
    const kinds = known.get(parent) ?? (parent === null ? new Map<string, Kind>() : kindsIn(parent));
    known.set(parent, kinds);
    return kinds.get(kindOf(element)) ?? { count: 0, characters: 0, words: 0, linked: 0 };
  };
}

/** Returns the path of each run. */
export function pathsOf(runs: readonly Run[], body: PageElement, taken: ReadonlySet<number>): Path[] {
  const numbers = new Map<string, number>();
  const steps = new Map<PageElement, number>([[body, 0]]);
  const numberOf = (name: string) => {
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return number;
  };
  /** A number for the path of an element: paths themselves may be long. */
  const stepOf = (element: PageElement): number => {
    const parent = parentElementOf(element);
    const step = steps.get(element) ?? numberOf(`${parent === null ? 0 : stepOf(parent)}>${kindOf(element)}`);
    steps.set(element, step);
    return step;
  };
  const paths = new Map<string, Path>();
  return runs.map((run, at) => {
    const inner = run.nodes.find(isElement);
    const key = `${stepOf(run.around[0] ?? body)}|${inner === undefined ? '' : nameOf(inner)}`;
    const path = paths.get(key) ?? { runs: 0, words: 0, logs: 0, taken: 0, texts: new Set<string>() };
    paths.set(key, path);
    path.runs += 1;
    path.words += run.words;
    path.logs += Math.log1p(run.words);
    path.taken += taken.has(at) ? 1 : 0;
    path.texts.add(run.text);
    return path;
  });
}
