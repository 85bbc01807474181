import { childrenOf, type PageElement } from '../dom/dom.ts';
import type { Run } from './runs.ts';

/** Minimum number of words of a long run. */
const LONG = 15;

/** Sums over the runs in an element. `long`, `taken`: words of long runs, and of those that a library has selected. */
export interface Sum {
  characters: number;
  linked: number;
  words: number;
  runs: number;
  long: number;
  taken: number;
}

const NOTHING: Sum = { characters: 0, linked: 0, words: 0, runs: 0, long: 0, taken: 0 };

/** The sums of all elements of a body that hold runs. */
export class Sums {
  readonly whole: Sum = { ...NOTHING };
  readonly #body: PageElement;
  readonly #sums: Map<PageElement, Sum>;

  constructor(runs: readonly Run[], body: PageElement, taken: ReadonlySet<number>) {
    this.#body = body;
    this.#sums = new Map([[body, this.whole]]);
    for (const [at, run] of runs.entries()) {
      for (const element of run.around) add(run, this.#sumOf(element), taken.has(at));
      add(run, this.whole, taken.has(at));
    }
  }

  /** Undefined for an element without runs. */
  of(element: PageElement): Sum | undefined {
    return this.#sums.get(element);
  }

  /** Returns the sum of the largest element around a run with less than this share of the characters. */
  mostAround(run: Run, share: number): Sum {
    const isSmall = (each: PageElement) => this.#sumOf(each).characters < this.whole.characters * share;
    return this.#sumOf(run.around.findLast(isSmall) ?? run.around[0] ?? this.#body);
  }

  /** Returns the smallest element with this share of a sum, after the elements around it: the body is the first. */
  pathTo(name: keyof Sum, share: number): readonly PageElement[] {
    const path = [this.#body];
    if (this.whole[name] === 0) return path;
    const isLarge = (child: PageElement) => (this.of(child)?.[name] ?? 0) >= share * this.whole[name];
    for (let next = childrenOf(this.#body).find(isLarge); next !== undefined; next = childrenOf(next).find(isLarge)) {
      path.push(next);
    }
    return path;
  }

  #sumOf(element: PageElement): Sum {
    const known = this.#sums.get(element);
    if (known !== undefined) return known;
    const sum = { ...NOTHING };
    this.#sums.set(element, sum);
    return sum;
  }
}

function add(run: Run, sum: Sum, isTaken: boolean): void {
  sum.characters += run.text.length;
  sum.linked += run.linked;
  sum.words += run.words;
  sum.runs += 1;
  sum.long += isLong(run) ? run.words : 0;
  sum.taken += isTaken ? run.words : 0;
}

const isLong = ({ words, linked, text }: Run): boolean => words >= LONG && linked < text.length / 2;
