import { parseSelector } from '../../src/capture/comparison/selector.ts';
import { elementNamer } from '../../src/imaging/comparison/elements/name-element.ts';
import type { PageElement } from '../../src/imaging/comparison/elements/page-tree.ts';
import type { Box } from '../api/types.ts';

export type { PageElement } from '../../src/imaging/comparison/elements/page-tree.ts';

/** The elements of a captured page. Everything in it was written by the page. */
export interface CapturedPage {
  /** In document order. */
  readonly elements: readonly PageElement[];
  /** Whether a limit cut the element map. */
  readonly isPartial: boolean;
  /** Returns a selector that matches this element alone, as comparisons name it. */
  nameOf(element: PageElement): string;
  /** Returns the elements that a selector matches; undefined when the browser does not know the selector. */
  matching(selector: string): readonly PageElement[] | undefined;
  /** Returns the smallest element at a point of the image. */
  at(x: number, y: number): PageElement | undefined;
  /** Returns the nearest element around another that can be seen. */
  around(element: PageElement): PageElement | undefined;
  /** Returns the visible children of an element, through invisible ones; the outermost elements without one. */
  inside(element: PageElement | undefined): readonly PageElement[];
}

/** As of the service, in a file that needs zod. */
const MAX_LEVELS = 1000;
/** Maximum number of boxes that are drawn of a selector, which may match 10,000 elements. */
const MAX_BOXES = 500;

/** Reads an element map; undefined when it is none. */
export function readPage(map: unknown): CapturedPage | undefined {
  if (!isObject(map) || !Array.isArray(map.entries)) return undefined;
  const styles = Array.isArray(map.styles) ? map.styles : [];
  const byIndex: (PageElement | undefined)[] = [];
  const depths: number[] = [];
  const elements: PageElement[] = [];
  for (const [index, entry] of map.entries.entries()) {
    if (!isObject(entry)) return undefined;
    const parent = byIndex[Number(entry.parent)] ?? null;
    if (typeof entry.tag === 'string') {
      const element = elementOf(entry, elements.length, parent, styles[Number(entry.style ?? -1)]);
      parent?.children.push(element);
      elements.push(element);
      byIndex[index] = element;
      depths[index] = (depths[Number(entry.parent)] ?? 0) + 1;
      if ((depths[index] ?? 0) > MAX_LEVELS) return undefined;
    } else if (typeof entry.text === 'string') {
      const { text, length, hash } = entry;
      parent?.texts.push({ parent: parent.order, text, length: Number(length), hash: Number(hash) });
    }
  }
  return pageOf(elements, map.partial === true);
}

function elementOf(
  { tag, id, class: classes, attributes, box, image }: Readonly<Record<string, unknown>>,
  order: number,
  parent: PageElement | null,
  style: unknown,
): PageElement {
  const [x, y, width, height] = Array.isArray(box) ? box.map(Number) : [];
  const isBox = x !== undefined && y !== undefined && width !== undefined && height !== undefined;
  return {
    order,
    tag: String(tag),
    id: typeof id === 'string' ? id : undefined,
    class: typeof classes === 'string' ? classes : undefined,
    attributes: textsOf(attributes),
    image: typeof image === 'string' ? image : undefined,
    parent,
    children: [],
    texts: [],
    box: isBox && [x, y, width, height].every(Number.isFinite) ? { x, y, width, height } : null,
    style: textsOf(style),
  };
}

function pageOf(elements: readonly PageElement[], isPartial: boolean): CapturedPage {
  const named = elementNamer({ elements, texts: [], isPartial });
  const seen = elements.filter(isSeen);
  const around = (element: PageElement) => {
    for (let each = element.parent; each !== null; each = each.parent) if (isSeen(each)) return each;
    return undefined;
  };
  const inside = Map.groupBy(seen, around);
  let find: ReturnType<typeof finderIn> | undefined;
  return {
    elements,
    isPartial,
    nameOf: (element) => named(element).selector,
    around,
    inside: (element) => inside.get(element) ?? [],
    at: (x, y) => {
      let [found, least]: [PageElement | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
      for (const element of seen) {
        const { box } = element;
        if (box === null || !contains(box, x, y) || box.width * box.height > least) continue;
        [found, least] = [element, box.width * box.height];
      }
      return found;
    },
    matching: (selector) => {
      find ??= finderIn(elements);
      return find(selector);
    },
  };
}

/** Elements that were painted have a style. The root elements are the page itself. */
function isSeen({ box, style, tag }: PageElement): boolean {
  return box !== null && tag !== 'html' && tag !== 'body' && Object.keys(style).length > 0;
}

function contains({ x, y, width, height }: Box, atX: number, atY: number): boolean {
  return atX >= x && atX < x + width && atY >= y && atY < y + height;
}

/** Returns boxes of elements, and those of its descendants for one that has none: at most `MAX_BOXES`. */
export function boxesOf(elements: readonly PageElement[]): readonly Box[] {
  const boxes: Box[] = [];
  const found = new Set<PageElement>();
  const open = elements.toReversed();
  for (let next = open.pop(); next !== undefined && boxes.length < MAX_BOXES; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    if (next.box !== null) boxes.push(next.box);
    else open.push(...next.children.toReversed());
  }
  return boxes;
}

/**
 * Lets the browser find elements: in documents of XML, one for each frame, where names and attributes of a page mean
 * nothing. They load nothing and run nothing.
 */
function finderIn(elements: readonly PageElement[]): (selector: string) => readonly PageElement[] | undefined {
  const nodes = new Map<PageElement, Element>();
  const known = new Map<Node, PageElement>();
  const frames = new Map<PageElement, XMLDocument>();
  const main = document.implementation.createDocument(null, null);
  const inert = document.implementation.createDocument(null, null);
  for (const element of elements) {
    const { parent } = element;
    const isFramed = parent?.tag === 'iframe';
    const place = parent === null ? main : isFramed ? newFrame(frames, parent) : nodes.get(parent);
    const node = nodeOf(element, inert);
    nodes.set(element, node);
    known.set(node, element);
    // A document has one root; what a hostile map has besides is not found.
    if (place instanceof Document && place.documentElement !== null) continue;
    place?.append(node);
  }
  const select = (from: ParentNode, css: string) =>
    [...from.querySelectorAll(css)].flatMap((node) => known.get(node) ?? []);
  return (selector) => {
    try {
      const steps = parseSelector(selector);
      const [first, ...rest] = steps.flatMap((step) => ('css' in step ? [step.css] : []));
      if (rest.length + 1 < steps.length) return undefined;
      let found = select(main, first ?? '');
      for (const css of rest) {
        found = [...new Set(found.flatMap((each) => select(frames.get(each) ?? nodes.get(each) ?? main, css)))];
      }
      return found;
    } catch {
      return undefined;
    }
  };
}

function newFrame(frames: Map<PageElement, XMLDocument>, frame: PageElement): XMLDocument {
  const known = frames.get(frame) ?? document.implementation.createDocument(null, null);
  frames.set(frame, known);
  return known;
}

function nodeOf({ tag, id, class: classes, attributes = {} }: PageElement, inert: XMLDocument): Element {
  const named = { ...attributes, ...(id !== undefined && { id }), ...(classes !== undefined && { class: classes }) };
  let node: Element;
  try {
    node = inert.createElement(tag);
  } catch {
    node = inert.createElement('unknown');
  }
  for (const [name, value] of Object.entries(named)) {
    try {
      node.setAttribute(name, value);
    } catch {
      // XML has no attribute of this name, and no selector can ask for it.
    }
  }
  return node;
}

function textsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const pairs = Object.entries(value).flatMap(([name, each]) =>
    typeof each === 'string' ? [[name, each] as const] : [],
  );
  return Object.fromEntries(pairs);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
