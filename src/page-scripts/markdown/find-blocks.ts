import { escapedName } from '../../words/escaped-name.ts';
import { around, type Rectangle } from '../boxes/boxes.ts';
import { ancestors, composedParent } from '../dom/composed-tree.ts';
import {
  attribute,
  currentSrcOf,
  firstOf,
  isElement,
  nameOf,
  nextOf,
  type PageElement,
  type PageNode,
  page,
  parentOf,
  rootOf,
} from '../dom/dom.ts';
import { type Item, isMarked, isWords, type Marked, type Words } from '../painted/items.ts';
import type { Block } from './write-blocks.ts';

/** Number of characters that identify the beginning and the end of a block. */
const ENDS = 40;
/** Maximum number of texts of a block that are looked at, and of elements whose common one is found. */
const MAX_TEXTS = 5_000;
const MAX_ELEMENTS = 1_000;
/** Maximum number of images that count beside the texts of a block. */
const MAX_IMAGES = 20;
const MAX_STEPS = 12;
/** Maximum number of characters of the selectors of all blocks: a page decides how long its names are. */
const MAX_SELECTORS_CHARACTERS = 1024 * 1024;
const MAX_NAME_CHARACTERS = 100;

/** Where a block is in the window, in CSS pixels, and a selector of the element around it. */
export interface BlockPlace {
  readonly box: Rectangle | null;
  readonly selector: string | null;
}

/**
 * Returns where on the page the blocks are. The libraries make elements anew, so the words of a block are looked up
 * among those that were painted, in their order.
 */
export function findBlocks<Mark>(blocks: readonly Block[], items: readonly Item<Mark>[]): BlockPlace[] {
  const textsWith = paintedTexts(items.filter(isWords).filter(({ isBlank }) => !isBlank));
  const images = items
    .filter(isMarked)
    .filter(isImage)
    .map((item) => ({ item, source: currentSrcOf(item.element) }));
  const selectorOf = selectorsOfPage();
  let room = MAX_SELECTORS_CHARACTERS;
  const named = (element: PageElement): string | null => {
    const selector = room > 0 ? selectorOf(element) : null;
    room -= selector?.length ?? 0;
    return selector;
  };
  return blocks.map(({ words, images: sources }) => {
    const texts = textsWith(words).slice(0, MAX_TEXTS);
    const shown = images.filter(({ source }) => sources.includes(source)).map(({ item }) => item);
    const all = [...texts, ...(texts.length === 0 || shown.length < MAX_IMAGES ? shown : [])];
    const boxes = all.map((item) => item.box()).filter((box) => box !== null);
    const element = commonElement(all.map((item) => item.parent));
    const isHere = element !== undefined && rootOf(element) === page;
    return { box: around(boxes), selector: isHere ? named(element) : null };
  });
}

const isImage = <Mark>({ element }: Marked<Mark>): boolean => nameOf(element) === 'img';

/** Returns what finds the painted texts with some words, after those that were found last. */
function paintedTexts<Mark>(texts: readonly Words<Mark>[]): (words: string) => readonly Words<Mark>[] {
  const parts = texts.map(({ text }) => text.replace(/\s+/g, ''));
  const starts: number[] = [];
  let length = 0;
  for (const part of parts) {
    starts.push(length);
    length += part.length;
  }
  const painted = parts.join('');
  let cursor = 0;
  return (words) => {
    const range = rangeOf(words, painted, cursor);
    if (range === undefined) return [];
    cursor = range.end;
    return texts.slice(lastUpTo(starts, range.start), lastUpTo(starts, range.end - 1) + 1);
  };
}

/** Finds words in a text after a position, or else anywhere. */
function rangeOf(words: string, painted: string, from: number): { start: number; end: number } | undefined {
  const positionOf = (sought: string) => {
    const ahead = painted.indexOf(sought, from);
    return ahead === -1 ? painted.indexOf(sought) : ahead;
  };
  if (words === '') return undefined;
  const whole = positionOf(words);
  if (whole !== -1) return { start: whole, end: whole + words.length };
  if (words.length <= ENDS) return undefined;
  // A library has taken something out of the block: its ends are looked up.
  const start = positionOf(words.slice(0, ENDS));
  const end = painted.indexOf(words.slice(-ENDS), start) + ENDS;
  return start === -1 || end <= start || end - start > words.length * 2 ? undefined : { start, end };
}

/** Returns the index of the last one of ascending numbers that is not above a number; 0 when all are. */
function lastUpTo(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the innermost element around all of these. */
function commonElement(elements: readonly PageElement[]): PageElement | undefined {
  const [first] = elements;
  if (first === undefined) return undefined;
  let shared = ancestors(first);
  for (const each of new Set(elements.slice(0, MAX_ELEMENTS))) {
    const all = new Set(ancestors(each));
    shared = shared.filter((one) => all.has(one));
  }
  return shared[0];
}

/** Returns a function that names elements by their places; null for one with a very long name. */
function selectorsOfPage(): (element: PageElement) => string | null {
  const numberOf = numbersAmongSiblings();
  return (element) => {
    const steps: string[] = [];
    for (
      let each: PageNode | null = element;
      isElement(each) && steps.length < MAX_STEPS;
      each = composedParent(each)
    ) {
      const name = nameOf(each);
      const id = attribute(each, 'id');
      if (id !== null && /^[a-zA-Z][\w-]{0,60}$/.test(id)) return [`#${id}`, ...steps].join(' > ');
      if (name.length > MAX_NAME_CHARACTERS) return null;
      steps.unshift(/^(?:html|body)$/.test(name) ? name : `${escapedName(name)}:nth-of-type(${numberOf(each)})`);
    }
    return steps.join(' > ');
  };
}

/**
 * Returns what numbers an element among its siblings of the same name. All are counted at once: a page may have many.
 */
function numbersAmongSiblings(): (element: PageElement) => number {
  const numbers = new WeakMap<PageElement, number>();
  const count = (element: PageElement) => {
    const counts = new Map<string, number>();
    const parent = parentOf(element);
    for (let each: PageNode | null = parent === null ? element : firstOf(parent); each !== null; each = nextOf(each)) {
      if (!isElement(each)) continue;
      const name = nameOf(each);
      const number = (counts.get(name) ?? 0) + 1;
      counts.set(name, number);
      numbers.set(each, number);
    }
  };
  return (element) => {
    if (!numbers.has(element)) count(element);
    return numbers.get(element) ?? 1;
  };
}
