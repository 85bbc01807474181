import type { StyleOf } from '../dom/computed-style.ts';
import {
  assigned,
  firstOf,
  framed,
  isElement,
  isText,
  nameOf,
  type PageElement,
  type PageNode,
  type PageRoot,
  type PageText,
  page,
  rootElementOf,
  shadowOf,
  textOf,
  typeOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { HiddenContent, isUnread } from './hidden-content.ts';
import type { HiddenTexts } from './hidden-texts.ts';
import type { Item } from './items.ts';
import { type Around, aroundPage, type Inside, insideFrame, Level } from './level.ts';
import type { PaintedLimits } from './limits.ts';
import { insideOf, isFloating, whyInside } from './make-inside.ts';
import { placeOf, sightOfElement, sightOfText } from './make-sight.ts';
import type { Sight } from './sight.ts';
import { visibleCharacters } from './visible-characters.ts';
import { whyHidesText } from './why-hides.ts';

/** Returns the mark of an element whose place is wanted, by its local name and the mark around it. */
export type MarkOf<Mark> = (element: PageElement, name: string, outer: Mark | null) => Mark | undefined;

/** An item, and how to look at it; gaps and white space need no look. */
export interface Candidate<Mark> {
  item: Item<Mark>;
  readonly sight: Sight | null;
}

const COMMENT = 8;

/**
 * Finds the texts of a document that their styles show, in reading order. They may still be covered or out of reach.
 */
export class TextFinder<Mark> {
  readonly candidates: Candidate<Mark>[] = [];
  /** Elements that may lie over or under text that they do not contain. */
  readonly floating: PageElement[] = [];
  /** The documents and shadow trees that were read. */
  readonly roots: PageRoot[] = [page];
  isPartial = false;
  /** Whether the browser passes over an element when it is asked what lies at a point. */
  isAnyUntouchable = false;
  readonly #limits: PaintedLimits;
  readonly #styleOf: StyleOf;
  readonly #hidden: HiddenTexts;
  readonly #hiddenContent: HiddenContent;
  readonly #markOf: MarkOf<Mark>;
  #characters = 0;

  constructor(limits: PaintedLimits, styleOf: StyleOf, hidden: HiddenTexts, markOf: MarkOf<Mark>) {
    this.#limits = limits;
    this.#styleOf = styleOf;
    this.#hidden = hidden;
    this.#hiddenContent = new HiddenContent(hidden);
    this.#markOf = markOf;
  }

  /** Not recursive: a page can nest its elements to any depth. */
  find(endsAt: number): void {
    const root = rootElementOf(page);
    const first = root === null ? null : this.#enter(root, aroundPage());
    const levels = first === null ? [] : [first];
    for (let read = 1; !this.isPartial; ) {
      const level = levels.at(-1);
      if (level === undefined) return;
      const node = level.next();
      if (node === null) {
        this.#addGap(level.inside.gap);
        levels.pop();
        continue;
      }
      read += 1;
      if (read > this.#limits.nodes || (read % 64 === 0 && web.performance.now() > endsAt)) this.isPartial = true;
      const inner = this.#read(node, level.inside);
      if (inner !== null) levels.push(inner);
    }
  }

  #read(node: PageNode, inside: Inside<Mark>): Level<Mark> | null {
    if (isText(node)) this.#addText(node, inside);
    else if (isElement(node)) return this.#enter(node, inside);
    else if (typeOf(node) === COMMENT) this.#hiddenContent.add('comment', node, textOf(node));
    return null;
  }

  #enter(element: PageElement, around: Around<Mark>): Level<Mark> | null {
    const name = nameOf(element);
    if (name === 'br') this.#addGap('\n');
    this.#hiddenContent.addAttributes(element);
    if (name === 'noscript') {
      this.#hidden.add('noscript', element, textOf(element));
      return null;
    }
    if (isUnread(element, name)) {
      this.#hiddenContent.addUnread(element, name);
      return null;
    }
    const style = this.#styleOf(element);
    if (style.pointerEvents === 'none') this.isAnyUntouchable = true;
    const why = whyInside(element, name, style, around);
    if (why === 'display') {
      this.#hiddenContent.addUndisplayed(element, name);
      return null;
    }
    const isShown = why === '' && style.visibility === 'visible';
    const mark = isShown ? this.#markOf(element, name, around.mark) : undefined;
    const inside = insideOf(element, name, style, { why, mark, around });
    this.#addGap(inside.gap);
    if (why === '' && isFloating(name, style, around)) this.floating.push(element);
    if (mark !== undefined) this.#add({ element, ...placeOf(inside) }, sightOfElement(inside));
    if (name === 'iframe' || name === 'frame') return this.#enterFrame(inside, name, around);
    return new Level(inside, this.#contentOf(element, name));
  }

  #enterFrame(inside: Inside<Mark>, name: string, around: Around<Mark>): Level<Mark> | null {
    const { element } = inside;
    const inner = name === 'iframe' ? framed(element) : null;
    const root = inner === null ? null : rootElementOf(inner);
    const isVisible = this.#styleOf(element).visibility === 'visible';
    const why = inside.why !== '' ? inside.why : isVisible ? '' : 'visibility';
    if (inner === null || root === null) {
      const outside = { ...inside, mark: null, scroller: around.scroller };
      if (why === '') this.#add({ outside: element, ...placeOf(outside) }, sightOfElement(outside));
      return null;
    }
    if (why !== '') {
      this.#hiddenContent.add(why, element, textOf(root));
      return null;
    }
    this.roots.push(inner);
    return new Level(insideFrame(inside, around), root);
  }

  #contentOf(element: PageElement, name: string): PageNode | readonly PageNode[] | null {
    const shadow = shadowOf(element);
    if (shadow !== null) {
      this.roots.push(shadow);
      this.#hiddenContent.addUnslotted(element);
      return firstOf(shadow);
    }
    const list = name === 'slot' ? assigned(element) : [];
    return list.length > 0 ? list : firstOf(element);
  }

  #addGap(gap: string): void {
    const last = this.candidates.at(-1);
    if (last === undefined || gap === '') return;
    if (!('gap' in last.item)) this.#add({ gap }, null);
    else if (gap.length > last.item.gap.length || last.item.gap === '\t') last.item = { gap };
  }

  #addText(node: PageText, inside: Inside<Mark>): void {
    const data = textOf(node);
    if (data.length === 0) return;
    const { isPre, element } = inside;
    if (data.length < 1000 && /^[ \t\r\n\f]*$/.test(data)) {
      this.#addBlank(node, data, inside);
      return;
    }
    const why = inside.why || (inside.isClosedDetails && 'details') || whyHidesText(this.#styleOf(element));
    if (why !== '') {
      this.#hidden.add(why, node, data);
      return;
    }
    const { characters } = this.#limits;
    const { seen, unseen } = visibleCharacters(data.length > characters ? data.slice(0, characters) : data);
    for (const each of unseen) this.#hidden.add(each.technique, node, each.text);
    const text = isPre ? seen : seen.replace(/[ \t\r\n\f]+/g, ' ');
    const room = characters - this.#characters;
    if (text.length > room) this.isPartial = true;
    const kept = text.slice(0, room);
    this.#characters += kept.length;
    if (kept === '') return;
    const sight = sightOfText(node, data.length, inside);
    this.#add({ node, text: kept, isPre, isBlank: false, ...placeOf(inside, sight) }, sight);
  }

  #addBlank(node: PageText, data: string, { isPre, mark, element }: Inside<Mark>): void {
    const last = this.candidates.at(-1);
    if (!isPre && last !== undefined && 'gap' in last.item) return;
    const text = isPre ? data : ' ';
    this.#add({ node, text, isPre, isBlank: true, mark, parent: element, box: () => null }, null);
  }

  #add(item: Item<Mark>, sight: Sight | null): void {
    this.candidates.push({ item, sight });
  }
}
