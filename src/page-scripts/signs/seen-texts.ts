import { comparable, hasWords } from '../../words/comparable.ts';
import type { Rectangle } from '../boxes/boxes.ts';
import { visibleBox } from '../boxes/drawn-box.ts';
import {
  above,
  dataOf,
  type PageElement,
  type PageParent,
  page,
  rootElementOf,
  scrollWidthOf,
  select,
  shadowOf,
  tagOf,
  textsIn,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { MAX_ELEMENTS } from './overlays.ts';

/** Maximum number of text nodes that are looked at. */
const MAX_TEXTS = 1_000;
const MAX_TEXT_CHARACTERS = 2_000;
/** Elements whose text is not content. */
const WITHOUT_TEXT = /^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|TEXTAREA|OPTION)$/;

export interface SeenText {
  readonly text: string;
  readonly parent: PageElement;
}

/** Whether an element is visible, and somewhere in the document that scrolling reaches. */
export function isReachable(element: PageElement): boolean {
  const box = visibleBox(element, { opacityProperty: true });
  return box !== null && isPlaced(box);
}

function isPlaced({ x: left, y: top, width: across, height: down }: Rectangle): boolean {
  const [right, bottom] = [left + across, top + down];
  const root = rootElementOf(page);
  const width = Math.max(web.innerWidth, root === null ? 0 : scrollWidthOf(root));
  return (
    right - left > 1 &&
    bottom - top > 1 &&
    right + web.scrollX > 0 &&
    bottom + web.scrollY > 0 &&
    left + web.scrollX < width
  );
}

/** Reads the texts that are seen, up to a number of characters. */
export class TextReader {
  readonly #maxCharacters: number;
  readonly #messageCharacters: number;
  readonly #parents = new Map<PageElement, boolean>();
  #texts: SeenText[] = [];
  #read = 0;
  #total = 0;

  /** `messageCharacters`: from so many characters on, shadow trees are not read. */
  constructor(maxCharacters: number, messageCharacters: number) {
    this.#maxCharacters = maxCharacters;
    this.#messageCharacters = messageCharacters;
  }

  /** Reads what is in these elements. */
  read(elements: Iterable<PageElement>): readonly SeenText[] {
    for (const element of elements) this.#walk(element);
    return this.#texts;
  }

  /** Reads an element with new limits. `isLong`: it has more than is read. */
  readApart(element: PageElement): { texts: readonly SeenText[]; total: number; isLong: boolean } {
    [this.#texts, this.#read, this.#total] = [[], 0, 0];
    this.#walk(element);
    return { texts: this.#texts, total: this.#total, isLong: this.#total >= this.#maxCharacters };
  }

  #walk(tree: PageParent): void {
    const walker = textsIn(tree);
    while (this.#read < MAX_TEXTS && this.#total < this.#maxCharacters) {
      const node = walker.nextNode();
      if (node === null) break;
      const data = dataOf(node);
      const parent = above(node);
      if (parent === null || !hasWords(data)) continue;
      this.#read += 1;
      if (!this.#isSeenParent(parent)) continue;
      const text = comparable(data.slice(0, MAX_TEXT_CHARACTERS));
      this.#total += text.length;
      this.#texts.push({ text, parent });
    }
    // Text in shadow trees comes last: where it stands among the other text matters to no rule.
    if (this.#total >= this.#messageCharacters) return;
    let hosts = 0;
    for (const element of select(tree, '*')) {
      const shadow = shadowOf(element);
      if (shadow === null) continue;
      hosts += 1;
      if (hosts > MAX_ELEMENTS) return;
      this.#walk(shadow);
    }
  }

  #isSeenParent(parent: PageElement): boolean {
    const known = this.#parents.get(parent);
    if (known !== undefined) return known;
    const seen = !WITHOUT_TEXT.test(tagOf(parent)) && isReachable(parent);
    this.#parents.set(parent, seen);
    return seen;
  }
}
