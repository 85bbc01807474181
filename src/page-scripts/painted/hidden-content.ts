import {
  attribute,
  documentOf,
  firstOf,
  framed,
  isElement,
  isText,
  nextOf,
  type PageElement,
  type PageNode,
  type PageParent,
  rangeIn,
  rootElementOf,
  rootOf,
  select,
  slotOf,
  templated,
  textOf,
  textSlotOf,
} from '../dom/dom.ts';
import type { HiddenTexts } from './hidden-texts.ts';

/** Maximum number of characters of one hidden text. */
const MAX_CHARACTERS = 10_000;
const ATTRIBUTES = ['aria-label', 'aria-description', 'alt', 'title', 'placeholder'];
const UNREAD = /* @__PURE__ */ new Set(
  'script style template head title textarea select option datalist audio video canvas embed desc metadata annotation annotation-xml'.split(
    ' ',
  ),
);
/** Types of scripts that run. */
const CODE = /^(?:|module|importmap|speculationrules|text\/javascript|application\/javascript)$/i;

/**
 * Whether the content of an element is no text of the page. That of an object is one when nothing else is drawn there.
 */
export const isUnread = (element: PageElement, name: string): boolean =>
  name === 'object' ? !hasRects(element) : UNREAD.has(name);

function hasRects(element: PageElement): boolean {
  const range = rangeIn(documentOf(element));
  range.selectNodeContents(element);
  const [first] = range.getClientRects();
  return first !== undefined;
}

/** Collects what a page holds for others than its visitors, by the kind of the element. */
export class HiddenContent {
  readonly #texts: HiddenTexts;
  /** The ids that controls of a tree say they would expand. */
  readonly #expandable = new Map<PageNode, ReadonlySet<string>>();

  constructor(texts: HiddenTexts) {
    this.#texts = texts;
  }

  /** Adds texts of attributes, which only assistive technology or a pointer shows, or nothing. */
  addAttributes(element: PageElement): void {
    if (!this.#texts.isWanted) return;
    for (const name of ATTRIBUTES) {
      const value = attribute(element, name);
      if (value !== null) this.#texts.add(name, element, value);
    }
  }

  addUnread(element: PageElement, name: string): void {
    if (!this.#texts.isWanted) return;
    if (name === 'template') this.#texts.add(name, element, textOf(templated(element)));
    // Data in scripts is not for people; scripts themselves are not told.
    if (name === 'script' && !CODE.test(attribute(element, 'type') ?? '')) {
      this.#texts.add('script', element, textOf(element));
    }
  }

  /** An element of `display: none`; of a frame, its document. */
  addUndisplayed(element: PageElement, name: string): void {
    if (!this.#texts.isWanted) return;
    const inner = name === 'iframe' ? framed(element) : null;
    const holder = (inner !== null && rootElementOf(inner)) || element;
    this.add(this.#isCollapsed(element) ? 'collapsed' : 'display', element, textOf(holder));
  }

  /** Children of an element with a shadow tree that no slot shows. */
  addUnslotted(host: PageElement): void {
    if (!this.#texts.isWanted) return;
    for (let light = firstOf(host); light !== null; light = nextOf(light)) {
      const isShown = isElement(light) ? slotOf(light) !== null : !isText(light) || textSlotOf(light) !== null;
      if (!isShown) this.add('slot', light, textOf(light));
    }
  }

  add(technique: string, node: PageNode, text: string): void {
    this.#texts.add(technique, node, text.slice(0, MAX_CHARACTERS));
  }

  /** Whether a click on a tab, or on a control that declares it, would show the element. */
  #isCollapsed(element: PageElement): boolean {
    if (attribute(element, 'hidden') === 'until-found' || attribute(element, 'role') === 'tabpanel') return true;
    const tree = rootOf(element);
    const known = this.#expandable.get(tree) ?? expandableIn(tree);
    this.#expandable.set(tree, known);
    const id = attribute(element, 'id');
    return id !== null && known.has(id);
  }
}

function expandableIn(tree: PageParent): ReadonlySet<string> {
  const controls = select(tree, '[aria-expanded="false"][aria-controls]');
  return new Set(controls.flatMap((each) => (attribute(each, 'aria-controls') ?? '').split(' ')));
}
