import { boxOf, clientLeftOf, clientTopOf, nextOf, type PageElement, type PageNode } from '../dom/dom.ts';
import type { Sight } from './sight.ts';

/** Facts that apply to the content of an element: its own, and those it inherits from the elements around it. */
export interface Inside<Mark> extends Pick<Sight, 'boxed' | 'fixed' | 'scroller' | 'frame' | 'isRisky' | 'clips'> {
  readonly element: PageElement;
  /** Why all of its text is hidden; `''` when it is not. */
  readonly why: string;
  readonly opacity: number;
  readonly isPre: boolean;
  readonly isClosedDetails: boolean;
  /** Whether a `<summary>` would be the first one of this element, which is shown when it is closed. */
  readonly summary: { isNext: boolean };
  readonly isGrid: boolean;
  readonly mark: Mark | null;
  /** Returns where the window of its document is in that of the page, in CSS pixels. */
  readonly offset: () => readonly [x: number, y: number];
  /** The gap before and after the element. */
  readonly gap: string;
}

/** The same facts for the root element of the page, which has no element around it. */
export type Around<Mark> = Omit<Inside<Mark>, 'element' | 'boxed'> & { readonly boxed: PageElement | null };

export const aroundPage = (): Around<never> => ({
  boxed: null,
  why: '',
  opacity: 1,
  isPre: false,
  isClosedDetails: false,
  summary: { isNext: true },
  fixed: false,
  scroller: null,
  frame: null,
  isGrid: false,
  isRisky: false,
  clips: [],
  mark: null,
  offset: () => [0, 0],
  gap: '',
});

/** Returns the facts for the document of a frame. `around`: those for the element of the frame. */
export function insideFrame<Mark>(frame: Inside<Mark>, around: Around<Mark>): Inside<Mark> {
  const { element } = frame;
  return {
    ...frame,
    fixed: false,
    scroller: null,
    isGrid: false,
    isRisky: false,
    clips: [],
    offset: () => {
      const [x, y] = around.offset();
      const { left, top } = boxOf(element);
      return [x + left + clientLeftOf(element), y + top + clientTopOf(element)];
    },
    frame: {
      parent: element,
      boxed: element,
      rects: () => [boxOf(element)],
      rect: () => boxOf(element),
      fixed: frame.fixed,
      scroller: around.scroller,
      frame: around.frame,
      isElement: true,
      isRisky: false,
      clips: [],
    },
  };
}

/** An element whose content is read, and the nodes in it that are still to be read. */
export class Level<Mark> {
  readonly inside: Inside<Mark>;
  #next: PageNode | null;
  #list: readonly PageNode[] | null;
  #at = 0;

  /** `content`: the first of some siblings, or a list of nodes. */
  constructor(inside: Inside<Mark>, content: PageNode | readonly PageNode[] | null) {
    this.inside = inside;
    this.#list = content !== null && isList(content) ? content : null;
    this.#next = content === null || isList(content) ? null : content;
  }

  next(): PageNode | null {
    if (this.#list !== null) {
      this.#at += 1;
      return this.#list[this.#at - 1] ?? null;
    }
    const node = this.#next;
    if (node !== null) this.#next = nextOf(node);
    return node;
  }
}

const isList = (content: PageNode | readonly PageNode[]): content is readonly PageNode[] => Array.isArray(content);
