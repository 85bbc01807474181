import { composedParent, holds } from '../dom/composed-tree.ts';
import {
  append,
  attribute,
  bodyOf,
  createElement,
  currentSrcOf,
  documentOf,
  emptyDocument,
  firstOf,
  headOf,
  isDocument,
  isElement,
  matches,
  nameOf,
  nextOf,
  nodesOf,
  type PageDocument,
  type PageElement,
  type PageNode,
  page,
  parentElementOf,
  parseHtml,
  selectOne,
  setAttribute,
} from '../dom/dom.ts';
import { resolved } from '../dom/urls.ts';
import { web, windowOf } from '../dom/web.ts';
import { DRAWN_AS, drawnPart } from '../markdown/drawn-tables.ts';
import { noteDrawnFormula, noteFormula, texOf } from '../markdown/formulas.ts';
import { findPainted, type Painted } from './find-painted.ts';
import { isGap, isMarked, isWords, type Marked } from './items.ts';
import type { PaintedLimits } from './limits.ts';
import { isInLine } from './make-inside.ts';

/** Elements whose copies are of the same kind. Others, such as custom elements and forms, become a `div` or `span`. */
const KEPT =
  /^(?:a|abbr|address|article|aside|b|bdi|bdo|blockquote|caption|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|footer|h[1-6]|header|hgroup|i|ins|kbd|li|main|mark|nav|ol|p|pre|q|ruby|rp|rt|s|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|time|tr|u|ul|var)$/;

/**
 * Attributes that say what an element is for. All others stay behind: many hold words that nobody saw (`alt`, `title`,
 * `aria-label`, `data-*`).
 */
const KEPT_ATTRIBUTES = [
  'id',
  'class',
  'role',
  'itemprop',
  'itemtype',
  'colspan',
  'rowspan',
  'start',
  'reversed',
  'value',
  'type',
];
const MAX_ATTRIBUTE_CHARACTERS = 1_000;

/** Depth below which elements are left out and their texts kept: libraries take exponential time for deep documents. */
const MAX_DEPTH = 100;
const MAX_URL_CHARACTERS = 2_048;
/** Images that are smaller in both directions, in CSS pixels, are spacers and counters. */
const MIN_IMAGE_SIZE = 16;

/**
 * The painted items of a page, and a copy of the page with only what was painted, through open shadow roots and frames
 * of the same origin. The copy belongs to no window, so it loads and runs nothing; its URLs are absolute, and of
 * schemes that are safe to follow.
 */
export interface PaintedCopy extends Painted<PageElement> {
  readonly copy: PageDocument;
  readonly body: PageElement;
  /** Puts the HTML of a frame of another origin where that frame is. */
  readonly fill: (frame: PageElement, html: string) => void;
}

/** `part`: the element that is wanted, null when it does not exist; undefined for the whole page. */
export function copyPainted(limits: PaintedLimits, part?: PageElement | null): PaintedCopy {
  const found = findPainted<PageElement>(limits, (element, name) =>
    isImage(element, name) || isTask(element, name) ? element : undefined,
  );
  if (part !== undefined) {
    found.items = found.items.filter((item) => isGap(item) || (part !== null && holds(part, item.parent)));
  }
  const copier = new Copier();
  copier.fillAll(found);
  const { copy, body } = copier;
  return { ...found, copy, body, fill: (frame, html) => copier.fill(frame, html) };
}

/** Where the content of an element goes. */
interface Place {
  readonly into: PageElement;
  readonly depth: number;
  /** The innermost copy of a block. */
  readonly block: PageElement;
  readonly isPre: boolean;
}

class Copier {
  readonly copy = emptyDocument();
  readonly body = bodyOf(this.copy) ?? createElement(this.copy, 'body');
  readonly #places = new Map<PageNode, Place>();
  /** The next row of each part of a table that has cells of several rows; null for the others. */
  readonly #rowsRead = new Map<PageElement, PageNode | null>();

  /** Copies texts and images. */
  fillAll({ items }: Painted<PageElement>): void {
    this.#copyGenerator();
    let gap = false;
    let lastBlock: PageElement | null = null;
    for (const item of items) {
      if (isGap(item)) gap = true;
      else if (isMarked(item)) this.#copyMarked(item);
      else if (isWords(item)) {
        const { into, block, isPre } = this.#placeOf(item.parent);
        if (gap && isPre) append(into, '\n');
        else if (gap && block === lastBlock) append(into, createElement(this.copy, 'br'));
        gap = false;
        lastBlock = block;
        append(into, item.text);
      } else this.#placeOf(item.outside);
    }
  }

  fill(frame: PageElement, html: string): void {
    const { into } = this.#placeOf(frame);
    const body = bodyOf(parseHtml(html));
    if (body !== null) append(into, ...nodesOf(body));
  }

  /** Some generators write the same structure everywhere, which libraries know. */
  #copyGenerator(): void {
    const generator = selectOne(page, 'meta[name=generator]');
    const program = generator === null ? '' : (attribute(generator, 'content') ?? '');
    const head = headOf(this.copy);
    if (head === null || !/^[\w .+-]{1,60}$/.test(program)) return;
    const meta = createElement(this.copy, 'meta');
    setAttribute(meta, 'name', 'generator');
    setAttribute(meta, 'content', program);
    append(head, meta);
  }

  #copyMarked(item: Marked<PageElement>): void {
    if (isImage(item.element, nameOf(item.element))) this.#copyImage(item);
    else this.#copyTask(item.element);
  }

  #copyTask(element: PageElement): void {
    const box = createElement(this.copy, 'input');
    setAttribute(box, 'type', 'checkbox');
    if (matches(element, ':checked, [aria-checked=true]')) setAttribute(box, 'checked', '');
    append(this.#placeOf(nameOf(element) === 'input' ? composedParent(element) : element).into, box);
  }

  #copyImage({ element, box: boxOf }: Marked<PageElement>): void {
    const box = boxOf();
    if (box === null) return;
    const image = createElement(this.copy, 'img');
    noteDrawnFormula(element, box, image);
    const shown = nameOf(element) === 'img' ? currentSrcOf(element) : null;
    const source = safeUrl(shown, element, ['http:', 'https:']);
    const isSmall = box.width < MIN_IMAGE_SIZE && box.height < MIN_IMAGE_SIZE;
    if (texOf(image) === null && (source === null || isSmall)) return;
    if (source !== null) setAttribute(image, 'src', source);
    // Libraries take images without a size for spacers.
    setAttribute(image, 'width', String(Math.round(box.width)));
    setAttribute(image, 'height', String(Math.round(box.height)));
    append(this.#placeOf(composedParent(element)).into, image);
  }

  /** Returns where the content of an element goes; its copy and those of the elements around it are made on demand. */
  #placeOf(element: PageNode | null): Place {
    const chain: PageElement[] = [];
    let each = element;
    while (each !== null && !this.#places.has(each)) {
      if (isElement(each)) chain.push(each);
      each = isDocument(each) ? (windowOf(each)?.frameElement ?? null) : composedParent(each);
    }
    const known = each === null ? undefined : this.#places.get(each);
    let place = known ?? { into: this.body, depth: 0, block: this.body, isPre: false };
    for (const next of chain.toReversed()) {
      // A cell has its place from its row.
      place = this.#places.get(next) ?? this.#placeIn(place, next);
      this.#places.set(next, place);
    }
    return place;
  }

  #placeIn(around: Place, element: PageElement): Place {
    const name = nameOf(element);
    const isRoot = name === 'html' || (name === 'body' && documentOf(element) === page);
    if (isRoot || around.depth >= MAX_DEPTH) return around;
    if (name === 'tr') this.#copyEmptyRows(around, element);
    const into = this.#copyOf(element, name);
    append(around.into, into);
    const block = isInline(element) ? around.block : into;
    const place = { into, depth: around.depth + 1, block, isPre: around.isPre || name === 'pre' };
    if (name === 'tr') this.#copyCells(element, place);
    return place;
  }

  /** Cells without text hold the others in their columns. */
  #copyCells(row: PageElement, { into, depth, isPre }: Place): void {
    for (let cell = firstOf(row); cell !== null; cell = nextOf(cell)) {
      if (!isElement(cell) || !/^t[dh]$/.test(nameOf(cell)) || isUndisplayed(cell)) continue;
      const made = this.#copyOf(cell, nameOf(cell));
      append(into, made);
      this.#places.set(cell, { into: made, depth: depth + 1, block: made, isPre });
    }
  }

  /** Copies the rows without text before a row, where cells of several rows count them. */
  #copyEmptyRows(around: Place, row: PageElement): void {
    const group = parentElementOf(row);
    if (group === null || this.#rowsRead.get(group) === null) return;
    const from = this.#rowsRead.get(group) ?? (selectOne(group, '[rowspan]') === null ? null : firstOf(group));
    this.#rowsRead.set(group, from === null ? null : nextOf(row));
    for (let each = from; each !== null && each !== row; each = nextOf(each)) {
      if (!isElement(each) || nameOf(each) !== 'tr' || this.#places.has(each) || isUndisplayed(each)) continue;
      const into = createElement(this.copy, 'tr');
      append(around.into, into);
      this.#copyCells(each, { ...around, into });
    }
  }

  #copyOf(element: PageElement, name: string): PageElement {
    const part = drawnPart(element, name);
    const kind = part === undefined && KEPT.test(name) ? name : isInline(element) ? 'span' : 'div';
    const made = createElement(this.copy, kind);
    if (part !== undefined) setAttribute(made, DRAWN_AS, part);
    for (const each of KEPT_ATTRIBUTES) {
      const value = attribute(element, each);
      // Turndown would write a box of its own in place of the words.
      if (value === null || value.length >= MAX_ATTRIBUTE_CHARACTERS || value === 'checkbox') continue;
      setAttribute(made, each, value);
    }
    if (matches(element, 'math, .katex, .MathJax, .MathJax_CHTML')) noteFormula(element, made);
    const written = name === 'a' ? attribute(element, 'href') : null;
    const href = safeUrl(written, element, ['http:', 'https:', 'mailto:', 'tel:']);
    if (href !== null) setAttribute(made, 'href', href);
    return made;
  }
}

/** Whether an element is an image, or a formula that MathJax has drawn as one. */
const isImage = (element: PageElement, name: string): boolean =>
  name === 'img' || name === 'mjx-container' || (name === 'span' && matches(element, '.MathJax_SVG'));

/** Whether an element is the box of a task in a list, or one in a table that only shows a state. */
const isTask = (element: PageElement, name: string): boolean =>
  (name === 'input' || attribute(element, 'role') === 'checkbox') &&
  matches(element, ':is(li, li *, td :disabled, td [aria-disabled=true]):is([type=checkbox], [role=checkbox])');

const isUndisplayed = (element: PageElement): boolean => web.getComputedStyle(element).display === 'none';

const isInline = (element: PageElement): boolean =>
  !/^i?frame$/.test(nameOf(element)) && isInLine(nameOf(element), web.getComputedStyle(element).display);

function safeUrl(written: string | null, element: PageElement, schemes: readonly string[]): string | null {
  const url = written ? resolved(written, element) : null;
  return url !== null && schemes.includes(url.protocol) && url.href.length <= MAX_URL_CHARACTERS ? url.href : null;
}
