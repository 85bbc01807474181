import { comparable, hasWords } from '../../words/comparable.ts';
import { hashOf } from '../../words/text-hash.ts';
import type { Sides } from '../boxes/boxes.ts';
import {
  boxOf,
  clientLeftOf,
  clientTopOf,
  currentSrcOf,
  dataOf,
  firstOf,
  framed,
  interfaceOf,
  isElement,
  isText,
  nameOf,
  nextOf,
  type PageElement,
  type PageFragment,
  type PageText,
  rootElementOf,
  shadowOf,
} from '../dom/dom.ts';
import { type Style, type Window, web, windowOf } from '../dom/web.ts';
import { addAttributes } from './attributes.ts';
import type { ElementEntry, Entry } from './entry.ts';
import { clipped, type ImagePlace, inImage, isEmpty, moved } from './place.ts';
import { short } from './short.ts';
import { StyleTable } from './styles.ts';

/** Maximum depth of elements, which fits on a script's stack. */
const MAX_DEPTH = 500;
/** Number of entries after which the time is looked at. */
const CLOCK_ENTRIES = 32;
const MAX_TAG_CHARACTERS = 100;
const MAX_SOURCE_CHARACTERS = 120;
/** Maximum number of characters of a text that are hashed. */
const MAX_TEXT_CHARACTERS = 20_000;
/** Maximum number of nodes that are read as one text. */
const MAX_JOINED = 1_000;

/** Elements that are never drawn, and elements that are drawn whole: their content has no entries. */
const BARE = /* @__PURE__ */ new Set(
  'head script style template noscript link meta title base source track param'.split(' '),
);
const DRAWN = /* @__PURE__ */ new Set('svg math select textarea object embed audio video canvas'.split(' '));

/** The surroundings of an element: its parent's entry, its depth, the place of its document in the page's window. */
interface Around {
  readonly at: number;
  readonly depth: number;
  readonly dx: number;
  readonly dy: number;
  /** The part of the window that the elements around it show; null for all. */
  readonly clip: Sides | null;
  readonly view: Window;
}

export interface MapLimits {
  readonly entries: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
  /** Characters of a text that an entry has. */
  readonly textCharacters: number;
}

/**
 * Lists the elements of a document and their texts. Every element is an entry, even without a box, so that selectors
 * can count siblings. Descendants of an element outside of the image are left out. Elements in open shadow roots are
 * children of their hosts, and documents of same-origin frames are children of their frames.
 */
export class Mapper {
  readonly entries: Entry[] = [];
  readonly table = new StyleTable();
  partial = false;
  readonly #image: ImagePlace;
  readonly #limits: MapLimits;
  readonly #endsAt: number;

  constructor(image: ImagePlace, limits: MapLimits) {
    this.#image = image;
    this.#limits = limits;
    this.#endsAt = web.performance.now() + limits.ms;
  }

  map(root: PageElement): void {
    this.#visit(root, { at: -1, depth: 0, dx: 0, dy: 0, clip: null, view: web });
  }

  #visit(element: PageElement, around: Around): void {
    const name = nameOf(element);
    const entry: ElementEntry = { parent: around.at, tag: name.slice(0, MAX_TAG_CHARACTERS) };
    const at = this.entries.push(entry) - 1;
    addAttributes(element, entry);
    this.#addContent(element, around, name, entry, at);
    const hasNoEntries = this.entries.length === at + 1 || name === 'iframe';
    if (hasNoEntries && isFilled(element)) entry.filled = true;
  }

  #addContent(element: PageElement, around: Around, name: string, entry: ElementEntry, at: number): void {
    if (BARE.has(name)) return;
    const rect = boxOf(element);
    const hasBox = rect.width > 0 && rect.height > 0;
    const style = around.view.getComputedStyle(element);
    if (!hasBox && style.display === 'none') return;
    const place = moved(rect, around.dx, around.dy);
    const seen = clipped(place, around.clip);
    const box = hasBox && !isEmpty(seen) ? inImage(seen, this.#image) : undefined;
    const isRoot = name === 'html' || name === 'body';
    if (hasBox && box === undefined && !isRoot) return;
    if (box !== undefined) entry.box = box;
    const hasText = this.#look(element, entry, style);
    if (DRAWN.has(name)) return;
    if (around.depth >= MAX_DEPTH) {
      this.partial = true;
      return;
    }
    if (name === 'iframe') {
      if (box !== undefined) this.#enter(element, { at, depth: around.depth + 1, place, seen });
      return;
    }
    const clips = !isRoot && hasBox && style.overflow !== 'visible';
    const clip = clips ? seen : style.position === 'fixed' ? null : around.clip;
    this.#visitChildren(element, hasText, { ...around, at, depth: around.depth + 1, clip });
  }

  /** Adds what is seen of an element to its entry. Returns whether it shows a text of its own. */
  #look(element: PageElement, entry: ElementEntry, style: Style): boolean {
    if (entry.box === undefined || style.visibility !== 'visible') return false;
    const hasText = hasOwnText(element);
    entry.style = this.table.indexOf(style, hasText);
    if (interfaceOf(element) === 'HTMLImageElement') entry.image = short(currentSrcOf(element), MAX_SOURCE_CHARACTERS);
    return hasText;
  }

  /** Visits the document of a frame, if it can be read. */
  #enter(
    frame: PageElement,
    { at, depth, place, seen }: { at: number; depth: number; place: Sides; seen: Sides },
  ): void {
    const content = interfaceOf(frame) === 'HTMLIFrameElement' ? framed(frame) : null;
    const root = content === null ? null : rootElementOf(content);
    if (content === null || root === null) return;
    const [dx, dy] = [place.left + clientLeftOf(frame), place.top + clientTopOf(frame)];
    this.#visit(root, { at, depth, dx, dy, clip: seen, view: windowOf(content) ?? web });
  }

  #visitChildren(element: PageElement, hasText: boolean, inner: Around): void {
    const shadow = shadowOf(element);
    const trees: (PageElement | PageFragment)[] = shadow === null ? [element] : [shadow, element];
    for (const tree of trees) {
      let isAdded = false;
      for (let node = firstOf(tree); node !== null; node = nextOf(node)) {
        if (this.#isOver()) return;
        if (isElement(node)) {
          this.#visit(node, inner);
          isAdded &&= isUnseen(node);
        } else if (isText(node) && hasText && tree === element) {
          if (!isAdded) this.#addText(node, inner.at);
          isAdded = true;
        }
      }
    }
  }

  #isOver(): boolean {
    const { length } = this.entries;
    this.partial ||=
      length >= this.#limits.entries || (length % CLOCK_ENTRIES === 0 && web.performance.now() > this.#endsAt);
    return this.partial;
  }

  /** Adds a text with those that follow it without an element that is seen between them. */
  #addText(node: PageText, parent: number): void {
    const text = comparable(textFrom(node));
    if (text === '') return;
    const beginning = text.slice(0, this.#limits.textCharacters).toWellFormed();
    this.entries.push({ parent, text: beginning, length: text.length, hash: hashOf(text) });
  }
}

function hasOwnText(element: PageElement): boolean {
  for (let node = firstOf(element); node !== null; node = nextOf(node)) {
    if (isText(node) && hasWords(dataOf(node))) return true;
  }
  return false;
}

/** Whether an element has elements or text, also white space. */
function isFilled(element: PageElement): boolean {
  for (let node = firstOf(element); node !== null; node = nextOf(node)) {
    if (isElement(node) || (isText(node) && dataOf(node) !== '')) return true;
  }
  return false;
}

/** Returns a text with those after it, up to the next element that is seen: comments and `wbr` do not divide a text. */
function textFrom(node: PageText): string {
  let text = dataOf(node);
  let next = nextOf(node);
  for (let read = 0; next !== null && read < MAX_JOINED && text.length < MAX_TEXT_CHARACTERS; read += 1) {
    if (isText(next)) text += dataOf(next);
    else if (isElement(next) && !isUnseen(next)) break;
    next = nextOf(next);
  }
  return text.slice(0, MAX_TEXT_CHARACTERS);
}

const isUnseen = (element: PageElement): boolean => nameOf(element) === 'wbr';
