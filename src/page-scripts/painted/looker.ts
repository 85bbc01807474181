import { isWithin, meets } from '../boxes/boxes.ts';
import { holds } from '../dom/composed-tree.ts';
import type { StyleOf } from '../dom/computed-style.ts';
import {
  type Box,
  boxOf,
  documentOf,
  elementsAt,
  type PageDocument,
  type PageElement,
  rootElementOf,
  rootOf,
  scrollHeightOf,
  scrollWidthOf,
} from '../dom/dom.ts';
import { type Window, windowOf } from '../dom/web.ts';
import { type Cover, coverOf } from './cover.ts';
import type { Sight } from './sight.ts';

type Point = readonly [x: number, y: number];

/** Why nobody sees something; `''`: it is painted; null: unknown. */
export type Why = string | null;

interface FloatingBox {
  readonly element: PageElement;
  readonly box: Box;
}
/** The boxes of a document that is scrolled to a place. */
interface FloatingBoxes {
  readonly left: number;
  readonly top: number;
  readonly floating: readonly FloatingBox[];
}

/**
 * Looks at texts and elements that styles show: scrolls them into the window, and asks the browser what lies at points
 * of them. The caller restores the scroll position before any script of the page can run.
 */
export class Looker {
  readonly #styleOf: StyleOf;
  readonly #cover: Cover;
  readonly #floating: readonly PageElement[];
  readonly #frames = new Map<Sight, string>();
  readonly #boxes = new WeakMap<PageDocument, FloatingBoxes>();
  /** Where the beginnings of documents are in their windows. */
  readonly #places = new Map<Window, { readonly left: number; readonly top: number }>();
  readonly #sizes = new WeakMap<PageDocument, { readonly width: number; readonly height: number }>();

  /** `floating`: elements that may lie over or under what they do not contain. */
  constructor(styleOf: StyleOf, floating: readonly PageElement[]) {
    this.#styleOf = styleOf;
    this.#cover = coverOf(styleOf);
    this.#floating = floating;
  }

  whyUnseen(sight: Sight): Why {
    return this.#whyFrame(sight.frame) || this.#why(sight);
  }

  /** The content of a frame is not seen when the frame is not. */
  #whyFrame(frame: Sight | null): string {
    if (frame === null) return '';
    const known = this.#frames.get(frame);
    if (known !== undefined) return known;
    const why = this.#whyFrame(frame.frame) || this.#why(frame) || '';
    this.#frames.set(frame, why);
    return why;
  }

  #why(sight: Sight): Why {
    if (!sight.isElement && this.#isPlain(sight)) {
      return this.#cover.isColourAround(sight.parent) ? 'colour' : '';
    }
    const why = this.#look(sight, false);
    return why === '' || why === null || why === 'size' ? why : this.#look(sight, true);
  }

  /**
   * Whether nothing can cover, clip or move away a text, so that its colour and that of the elements around it decide.
   * Saves looks at points, whose cost grows with the longest list of children.
   */
  #isPlain({ fixed, isRisky, clips, boxed, rect: rectOf }: Sight): boolean {
    if (fixed || isRisky) return false;
    const doc = documentOf(boxed);
    const view = windowOf(doc);
    if (view === null) return false;
    const { width, height } = this.#sizeOf(doc);
    const rect = rectOf();
    if (rect.width < 1 || rect.height < 1) return false;
    const { left, top } = this.#placeOf(view);
    if (!isWithin(rect, { left, top, right: width + left, bottom: height + top })) return false;
    if (!clips.every((each) => isWithin(rect, boxOf(each)))) return false;
    return this.#floatingIn(doc, left, top).every(({ element, box }) => !meets(rect, box) || holds(element, boxed));
  }

  /** Boxes stay where they are until something scrolls. */
  #floatingIn(doc: PageDocument, left: number, top: number): readonly FloatingBox[] {
    const known = this.#boxes.get(doc);
    if (known !== undefined && known.left === left && known.top === top) return known.floating;
    const own = this.#floating.filter((element) => documentOf(element) === doc);
    const floating = own.map((element) => ({ element, box: boxOf(element) }));
    this.#boxes.set(doc, { left, top, floating });
    return floating;
  }

  /** Only this class scrolls, and each question about a place has the browser look whether anything has changed. */
  #placeOf(view: Window) {
    const known = this.#places.get(view);
    if (known !== undefined) return known;
    const place = { left: -view.scrollX, top: -view.scrollY };
    this.#places.set(view, place);
    return place;
  }

  #sizeOf(doc: PageDocument) {
    const known = this.#sizes.get(doc);
    if (known !== undefined) return known;
    const root = rootElementOf(doc);
    const size = root === null ? { width: 0, height: 0 } : { width: scrollWidthOf(root), height: scrollHeightOf(root) };
    this.#sizes.set(doc, size);
    return size;
  }

  #look(sight: Sight, isToCentre: boolean): Why {
    const view = windowOf(documentOf(sight.parent));
    if (view === null) return null;
    const rects = shownRects(sight, view, isToCentre);
    // Scrolling may move other documents, too: a frame comes into view.
    this.#places.clear();
    const [first] = rects;
    if (first === undefined) return 'size';
    if (sight.scroller !== null && !meets(first, boxOf(sight.scroller))) return null;
    const seen = pointsOf(rects).filter((point) => isIn(view, point));
    if (seen.length === 0) return sight.frame === null ? 'off-screen' : null;
    return this.#whyAt(seen, sight);
  }

  #whyAt(points: readonly Point[], sight: Sight): Why {
    const root = rootOf(sight.parent);
    const checked = new Set<string>();
    let why = '';
    for (const [x, y] of points) {
      const key = `${Math.round(x)} ${Math.round(y)}`;
      if (checked.has(key)) continue;
      checked.add(key);
      const stack = elementsAt(root, x, y);
      const own = stack.indexOf(sight.boxed);
      if (own === -1) {
        if (this.#styleOf(sight.boxed).pointerEvents === 'none') return null;
        why ||= 'clipped';
      } else if (stack.slice(0, own).some((above) => !holds(above, sight.boxed) && this.#cover.isOpaque(above))) {
        why ||= 'covered';
      } else if (sight.isElement || !this.#cover.isSameColour(this.#styleOf(sight.parent), stack.slice(own))) {
        return '';
      } else {
        why ||= 'colour';
      }
    }
    return why;
  }
}

/** Returns the rectangles with an area, after scrolling there. */
function shownRects(sight: Sight, view: Window, isToCentre: boolean): readonly Box[] {
  const visible = () => sight.rects().filter(({ width, height }) => width >= 1 && height >= 1);
  const rects = visible();
  const [first] = rects;
  if (first === undefined || sight.fixed) return rects;
  const [x, y] = pointIn(first, 0.5);
  const isNearEdge = y <= view.innerHeight * 0.2 || y >= view.innerHeight * 0.8;
  // Each scrolling costs the browser more than many looks. Elements near the edge may lie under a sticky header.
  if (isIn(view, [x, y]) && !(isToCentre && isNearEdge)) return rects;
  const left = x >= 0 && x < view.innerWidth ? view.scrollX : view.scrollX + x - view.innerWidth / 2;
  const top = view.scrollY + y - view.innerHeight * (isToCentre ? 0.5 : 0.2);
  view.scrollTo({ left, top, behavior: 'instant' });
  return visible();
}

/** Three points of the first rectangle, of the one in the middle and of the last one. */
function pointsOf(rects: readonly Box[]): readonly Point[] {
  return [rects[0], rects[rects.length >> 1], rects.at(-1)].flatMap((rect) =>
    rect === undefined ? [] : [0.5, 0.1, 0.9].map((share) => pointIn(rect, share)),
  );
}

const pointIn = (rect: Box, share: number): Point => [rect.left + rect.width * share, rect.top + rect.height / 2];
const isIn = (view: Window, [x, y]: Point): boolean => x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
