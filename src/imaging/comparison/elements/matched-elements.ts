import { compile, type Options } from 'css-select';
import { isTraversal, parse, type Selector } from 'css-what';
import nthCheck from 'nth-check';
import { PSEUDO_CLASSES } from '../../../capture/comparison/element-selector.ts';
import type { PageElement } from './page-tree.ts';

/** Whether each element matches, by its order: 1 or 0. */
export type Matched = Uint8Array<ArrayBuffer>;
type Test = (element: PageElement) => boolean;

/** Where a combinator leads from an element, and whether it goes on from there. */
const COMBINATORS: Readonly<Record<string, readonly [to: 'parents' | 'previous', again: boolean]>> = {
  descendant: ['parents', true],
  child: ['parents', false],
  sibling: ['previous', true],
  adjacent: ['previous', false],
};

const POSITIONS: Readonly<Record<string, string>> = {
  'first-child': ':nth-child(1)',
  'last-child': ':nth-last-child(1)',
  'only-child': ':nth-child(1):nth-last-child(1)',
  'first-of-type': ':nth-of-type(1)',
  'last-of-type': ':nth-last-of-type(1)',
  'only-of-type': ':nth-of-type(1):nth-last-of-type(1)',
};

/**
 * Finds the elements that match selectors. Each compound of a selector is tested once for each element, so a page and a
 * selector with many nested elements and compounds cost no more than their product. css-select tries all combinations
 * of ancestors, so it tests what concerns an element alone.
 */
export class MatchedElements {
  readonly #elements: readonly PageElement[];
  /** Orders of the parents and of the previous siblings in the same document; -1 for none. */
  readonly #parents: Int32Array;
  readonly #previous: Int32Array;
  readonly #families: readonly (readonly PageElement[])[];
  readonly #written = new Map<string, Matched>();
  #scope: Matched = new Uint8Array(0);

  constructor(elements: readonly PageElement[]) {
    this.#elements = elements;
    this.#parents = Int32Array.from(elements, ({ parent }) =>
      parent === null || parent.tag === 'iframe' ? -1 : parent.order,
    );
    this.#previous = new Int32Array(elements.length).fill(-1);
    this.#families = [elements.slice(0, 1), ...elements.map(({ children }) => children)];
    for (const family of this.#families) {
      for (const [at, { order }] of family.entries()) this.#previous[order] = family[at - 1]?.order ?? -1;
    }
  }

  /** `scope`: the elements that `:scope` matches. */
  by(css: string, scope: Matched): Matched {
    this.#scope = scope;
    return this.#anyOf(parse(css));
  }

  #anyOf(selectors: readonly Selector[][]): Matched {
    const any = new Uint8Array(this.#elements.length);
    for (const selector of selectors) {
      const found = this.#chain(selector);
      for (const [at, is] of found.entries()) any[at] = (any[at] ?? 0) | is;
    }
    return any;
  }

  /** From left to right: the elements that match a compound, and have those that match the one before. */
  #chain(selector: readonly Selector[]): Matched {
    let from = new Uint8Array(this.#elements.length).fill(1);
    for (const { combinator, compound } of partsOf(selector)) {
      if (combinator !== undefined) from = this.#after(from, combinator);
      from = this.#tested(from, compound);
    }
    return from;
  }

  /** From right to left: the elements from which a relative selector, such as `> a b`, leads to another. */
  #having(selector: readonly Selector[]): Matched {
    let to = new Uint8Array(this.#elements.length).fill(1);
    for (const { combinator = 'descendant', compound } of partsOf(selector).toReversed()) {
      to = this.#before(this.#tested(to, compound), combinator);
    }
    return to;
  }

  #tested(from: Matched, compound: readonly Selector[]): Matched {
    const tests = compound.map((simple) => this.#testOf(simple));
    return Uint8Array.from(this.#elements, (element) =>
      from[element.order] === 1 && tests.every((test) => test(element)) ? 1 : 0,
    );
  }

  /** Returns the elements that a combinator leads back from to one of the given. Those are earlier in the page. */
  #after(from: Matched, combinator: string): Matched {
    const { to, again } = this.#step(combinator);
    const after = new Uint8Array(from.length);
    for (const [at, earlier] of to.entries()) {
      if (earlier >= 0) after[at] = (from[earlier] ?? 0) | (again ? (after[earlier] ?? 0) : 0);
    }
    return after;
  }

  /** Returns the elements that a combinator leads to from one of the given. */
  #before(from: Matched, combinator: string): Matched {
    const { to, again } = this.#step(combinator);
    const before = new Uint8Array(from.length);
    for (let at = from.length - 1; at > 0; at -= 1) {
      const earlier = to[at] ?? -1;
      if (earlier >= 0) before[earlier] = (before[earlier] ?? 0) | (from[at] ?? 0) | (again ? (before[at] ?? 0) : 0);
    }
    return before;
  }

  #step(combinator: string): { to: Int32Array; again: boolean } {
    const [to, again] = COMBINATORS[combinator] ?? [];
    if (to === undefined || again === undefined) throw new Error(`the combinator ${combinator} is unknown`);
    return { to: to === 'parents' ? this.#parents : this.#previous, again };
  }

  #testOf(simple: Selector): Test {
    if (simple.type !== 'pseudo') return compile([[simple]], OF_ONE);
    const { name, data } = simple;
    const isIn = (matched: Matched) => (element: PageElement) => matched[element.order] === 1;
    if (Array.isArray(data)) {
      if (name === 'has') {
        const having = data.map((each) => this.#having(each));
        return (element) => having.some((each) => each[element.order] === 1);
      }
      const any = this.#anyOf(data);
      return name === 'not' ? (element) => any[element.order] === 0 : isIn(any);
    }
    const written = POSITIONS[name] ?? PSEUDO_CLASSES[name];
    if (written !== undefined) {
      const matched = this.#written.get(name) ?? this.#anyOf(parse(written));
      this.#written.set(name, matched);
      return isIn(matched);
    }
    if (name.startsWith('nth-')) return this.#nth(name, data ?? '');
    if (name === 'scope') return isIn(this.#scope);
    if (name === 'root') return ({ order }) => this.#parents[order] === -1;
    if (name === 'empty') return isEmpty;
    if (name === 'lang') return this.#inLanguage(compile([[simple]], OF_ONE));
    return compile([[simple]], OF_ONE);
  }

  #nth(name: string, data: string): Test {
    const [, formula = data, of] = /^(.+?)\s+of\s+(.+)$/is.exec(data) ?? [];
    const isPlace = nthCheck(formula.trim());
    const counted = of === undefined ? null : this.#anyOf(parse(of.trim()));
    const places = new Int32Array(this.#elements.length).fill(-1);
    for (const family of this.#families) {
      const counts = new Map<string, number>();
      for (const element of name.includes('last') ? family.toReversed() : family) {
        if (counted?.[element.order] === 0) continue;
        const kind = name.endsWith('type') ? nameOf(element) : '';
        const place = counts.get(kind) ?? 0;
        counts.set(kind, place + 1);
        places[element.order] = place;
      }
    }
    return ({ order }) => (places[order] ?? -1) >= 0 && isPlace(places[order] ?? -1);
  }

  /** Asks the elements that have a language once each, and others as their parents. */
  #inLanguage(test: Test): Test {
    const known = new Uint8Array(this.#elements.length);
    for (const element of this.#elements) {
      const parent = this.#parents[element.order] ?? -1;
      const isOwn =
        parent < 0 || attribute(element, 'lang') !== undefined || attribute(element, 'xml:lang') !== undefined;
      known[element.order] = isOwn ? Number(test(element)) : (known[parent] ?? 0);
    }
    return ({ order }) => known[order] === 1;
  }
}

interface Part {
  /** The type of the combinator before it; undefined for none. */
  readonly combinator: string | undefined;
  readonly compound: readonly Selector[];
}

function partsOf(selector: readonly Selector[]): readonly Part[] {
  const parts: { combinator: string | undefined; compound: Selector[] }[] = [];
  for (const token of selector) {
    if (isTraversal(token)) parts.push({ combinator: token.type, compound: [] });
    else if (parts.length === 0) parts.push({ combinator: undefined, compound: [token] });
    else parts.at(-1)?.compound.push(token);
  }
  return parts;
}

/** How css-select tests an element, without looking at others. */
const OF_ONE: Options<PageElement, PageElement> = {
  adapter: {
    isTag: (node): node is PageElement => node !== undefined,
    getName: nameOf,
    getAttributeValue: attribute,
    hasAttrib: (element, name) => attribute(element, name) !== undefined,
    getChildren: () => [],
    getParent: () => null,
    getSiblings: (element) => [element],
    getText: () => '',
    removeSubsets: (nodes) => nodes,
  },
};

/** Selectors of HTML have names in lower case, and elements of other kinds may not. */
function nameOf({ tag }: PageElement): string {
  return tag.toLowerCase();
}

function attribute({ id, class: classes, attributes }: PageElement, name: string): string | undefined {
  if (name === 'id') return id;
  if (name === 'class') return classes;
  return attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

function isEmpty({ tag, children, texts, filled }: PageElement): boolean {
  return filled !== true && texts.length === 0 && (children.length === 0 || tag === 'iframe');
}
