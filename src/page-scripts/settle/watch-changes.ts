import { type PageNode, page, rootElementOf, scrollHeightOf } from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Time without a change and without a request after which a page is settled, in milliseconds. */
export const QUIET_MS = 100;
/** An element whose attributes change for longer than this, without a pause, never stops: its changes are ignored. */
export const MAX_MOVING_MS = 1_500;
/** Time without a change after which an element has paused. Longer than a busy machine takes for a frame. */
const PAUSE_MS = 3 * QUIET_MS;
/** Maximum number of paints and layout shifts that count as changes. */
const MAX_SHIFTS = 20;

export interface Watch {
  /** Time at which watching began, on the clock of `performance.now`. */
  readonly beginning: number;
  /** Returns the number of changes, and the time of the last one; without changes, the time of the beginning. */
  noticed(): { readonly count: number; readonly last: number };
  end(): void;
}

/**
 * Watches the document for changes. Entries of these types of the performance timeline count as changes: paints and
 * layout shifts also reveal changes in shadow trees.
 */
export function watchChanges(types: readonly string[] = ['layout-shift', 'largest-contentful-paint']): Watch {
  const beginning = web.performance.now();
  let last = beginning;
  let count = 0;
  const touch = () => {
    count += 1;
    last = web.performance.now();
  };
  const isEndless = movements();
  const mutations = new web.MutationObserver((records) => {
    for (const { type, target } of records) if (type !== 'attributes' || !isEndless(target)) touch();
  });
  mutations.observe(page, { subtree: true, childList: true, characterData: true, attributes: true });
  let shifts = 0;
  const paints = new web.PerformanceObserver((list) => {
    // The observer may report paints from before the watch began.
    if (list.getEntries().every(({ startTime }) => startTime < beginning)) return;
    shifts += 1;
    if (shifts <= MAX_SHIFTS) touch();
  });
  for (const type of types) paints.observe({ type });
  const root = rootElementOf(page);
  const heightNow = () => (root === null ? 0 : scrollHeightOf(root));
  let height = heightNow();
  return {
    beginning,
    noticed: () => {
      const now = heightNow();
      if (now !== height) touch();
      height = now;
      return { count, last };
    },
    end: () => {
      mutations.disconnect();
      paints.disconnect();
    },
  };
}

/** Returns a function that notes a change of an element, and returns whether the element never stops. */
function movements(): (node: PageNode) => boolean {
  const moves = new WeakMap<PageNode, { readonly since: number; readonly last: number }>();
  return (node) => {
    const now = web.performance.now();
    const move = moves.get(node);
    const since = move !== undefined && now - move.last < PAUSE_MS ? move.since : now;
    moves.set(node, { since, last: now });
    return now - since > MAX_MOVING_MS;
  };
}
