import { imagesOf, isElement, listen, type PageElement, page } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';
import { atPoints } from './at-points.ts';
import type { Look } from './looks.ts';
import { mainScroller } from './main-scroller.ts';

/** Maximum number of elements that are remembered because they changed while the page was scrolled. */
const MAX_CHANGED = 5_000;

/** State of a page that is being scrolled. */
export interface Scrolled {
  /** The element that scrolls in place of the document, or null. */
  readonly scroller: PageElement | null;
  /** Images that were in the window and have not loaded. */
  readonly shown: Set<PageElement>;
  /** Adds images that are new in the document to those whose way into the window is noted. */
  readonly watchImages: () => void;
  /** Elements that changed or began to move meanwhile. */
  readonly changed: ReadonlySet<PageElement>;
  /** Elements in the window before it was scrolled. */
  readonly first: ReadonlySet<PageElement>;
  /** How elements looked in the middle of the window, and whether they are animated by their position in it. */
  readonly looks: Map<PageElement, { readonly look: Look; readonly follows: boolean }>;
  /** Whether the page listens to scrolling. */
  hears: boolean;
  /** Fixed elements that have come over the window meanwhile; null when unknown. */
  popups: ReadonlySet<PageElement> | null;
}

/** Returns what is known about a page that is scrolled, from the first call on. */
export function scrolled(): Scrolled {
  return kept('scrolled', observe);
}

/** Like `scrolled`, but undefined for a page that was not scrolled. */
export function scrolledBefore(): Scrolled | undefined {
  return kept<Scrolled | undefined>('scrolled', () => undefined);
}

function observe(): Scrolled {
  const scroller = mainScroller();
  return {
    scroller,
    ...observeImages(),
    changed: observeChanges(),
    first: atPoints(true),
    looks: new Map(),
    hears: true,
    popups: null,
  };
}

function observeImages(): Pick<Scrolled, 'shown' | 'watchImages'> {
  const known = new WeakSet<PageElement>();
  const shown = new Set<PageElement>();
  const observer = new web.IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) shown.add(target);
  });
  const watchImages = () => {
    for (const image of imagesOf(page)) {
      if (known.has(image)) continue;
      known.add(image);
      observer.observe(image);
    }
  };
  return { shown, watchImages };
}

function observeChanges(): ReadonlySet<PageElement> {
  const changed = new Set<PageElement>();
  const change = ({ target }: { readonly target: unknown }) => {
    if (changed.size < MAX_CHANGED && isElement(target)) changed.add(target);
  };
  for (const type of ['transitionrun', 'animationstart']) listen(page, type, change);
  const mutations = new web.MutationObserver((records) => records.forEach(change));
  mutations.observe(page, { subtree: true, attributeFilter: ['class', 'style', 'hidden'] });
  return changed;
}
