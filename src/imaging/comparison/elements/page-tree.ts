import { z } from 'zod';
import { intersection, union } from '../../../capture/comparison/boxes.ts';
import type { Box } from '../../../capture/comparison/comparison.ts';
import {
  type ElementEntry,
  ElementMapSchema,
  MAX_LEVELS,
  type TextEntry,
} from '../../../capture/comparison/element-map.ts';

/** An element of a page, as the element map of its capture has it. */
export interface PageElement extends Pick<ElementEntry, 'tag' | 'id' | 'class' | 'attributes' | 'image' | 'filled'> {
  /** Its place among the elements, in document order. */
  readonly order: number;
  readonly parent: PageElement | null;
  readonly children: PageElement[];
  /** Texts directly in it. */
  readonly texts: TextEntry[];
  /** Where it is in the image, also beyond its edges; null when the image shows none of it. */
  readonly box: Box | null;
  readonly style: Readonly<Record<string, string>>;
}

export interface PageTree {
  /** In document order. */
  readonly elements: readonly PageElement[];
  /** Texts with the elements that they are in, in document order. */
  readonly texts: readonly (readonly [PageElement, TextEntry])[];
  readonly isPartial: boolean;
}

const ElementMapText = z
  .string()
  .transform((json, context) => {
    try {
      const value: unknown = JSON.parse(json);
      return value;
    } catch {
      context.addIssue('is not JSON');
      return z.NEVER;
    }
  })
  .pipe(ElementMapSchema);

/** Parses an element map. A compromised renderer could have written it, so unexpected data is refused. */
export function readTree(json: string): PageTree | null {
  const { data } = ElementMapText.safeParse(json);
  if (data === undefined) return null;
  const byIndex: (PageElement | undefined)[] = [];
  const levels = new Map<PageElement | null, number>();
  const elements: PageElement[] = [];
  const texts: (readonly [PageElement, TextEntry])[] = [];
  for (const [index, entry] of data.entries.entries()) {
    const parent = byIndex[entry.parent] ?? null;
    if (parent === null && index > 0) return null;
    if (!('tag' in entry)) {
      if (parent === null) return null;
      parent.texts.push(entry);
      texts.push([parent, entry]);
      continue;
    }
    const { tag, id, class: classes, attributes, image, filled } = entry;
    const [x, y, width, height] = entry.box ?? [];
    const isBox = x !== undefined && y !== undefined && width !== undefined && height !== undefined;
    const element: PageElement = {
      order: elements.length,
      tag,
      id,
      class: classes,
      attributes,
      image,
      filled,
      parent,
      children: [],
      texts: [],
      box: isBox ? { x, y, width, height } : null,
      style: data.styles[entry.style ?? -1] ?? {},
    };
    const level = (levels.get(parent) ?? 0) + 1;
    if (level > MAX_LEVELS) return null;
    levels.set(element, level);
    parent?.children.push(element);
    elements.push(element);
    byIndex[index] = element;
  }
  return { elements, texts, isPartial: data.partial };
}

/** Returns elements and all their descendants. */
export function withDescendants(elements: Iterable<PageElement>): Set<PageElement> {
  const found = new Set<PageElement>();
  const open = [...elements];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...next.children);
  }
  return found;
}

/** Returns the box of an element, or the one around its descendants when it has none. */
export function boxAround(element: PageElement): Box | null {
  return element.box ?? union(element.children.map(boxAround));
}

/** Returns the part of a box inside an image; null when there is none. */
export function within(box: Box, image: Pick<Box, 'width' | 'height'>): Box | null {
  return intersection(box, { x: 0, y: 0, width: image.width, height: image.height });
}
