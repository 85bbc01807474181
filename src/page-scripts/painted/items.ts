import type { Rectangle } from '../boxes/boxes.ts';
import type { PageElement, PageNode } from '../dom/dom.ts';

/** A painted item of a page; items are in reading order. `Mark`: the caller's own facts about a marked element. */
export type Item<Mark> = Gap | Words<Mark> | Marked<Mark> | Outside<Mark>;

/** White space between texts: an empty line, the end of a line, or the tab between cells. */
export interface Gap {
  readonly gap: string;
}

interface Placed<Mark> {
  /** The mark of the innermost marked element around it. */
  readonly mark: Mark | null;
  readonly parent: PageElement;
  /** Returns the rectangle in the window, in CSS pixels; null when a scrolling element hides it. */
  readonly box: () => Rectangle | null;
}

/** A text. Those of frames of other origins have no node. */
export interface Words<Mark> extends Placed<Mark> {
  readonly text: string;
  readonly node: PageNode | null;
  /** Whether white space counts, as in code. */
  readonly isPre: boolean;
  readonly isBlank: boolean;
}

/** An element that the caller has marked. */
export interface Marked<Mark> extends Placed<Mark> {
  readonly element: PageElement;
}

/** A frame whose document cannot be read from this one. */
export interface Outside<Mark> extends Placed<Mark> {
  readonly outside: PageElement;
}

export const isGap = <Mark>(item: Item<Mark>): item is Gap => 'gap' in item;
export const isWords = <Mark>(item: Item<Mark>): item is Words<Mark> => 'text' in item;
export const isMarked = <Mark>(item: Item<Mark>): item is Marked<Mark> => 'element' in item;
export const isOutside = <Mark>(item: Item<Mark>): item is Outside<Mark> => 'outside' in item;
