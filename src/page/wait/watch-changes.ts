/** Time without a change and without a request after which a page is settled. */
export const QUIET_MS = 100;
/** An element whose attributes change for longer than this, without a pause, never stops: its changes are ignored. */
export const MAX_MOVING_MS = 1_500;
/** Time without a change after which an element has paused. Longer than a busy machine takes for a frame. */
const PAUSE_MS = 3 * QUIET_MS;
/** Maximum number of paints and layout shifts that count as changes. */
const MAX_SHIFTS = 20;

/**
 * Runs in the page. Watches the document for changes until `end` is called. `noticed` returns the number of changes
 * and the time of the last one on the clock of `performance.now`; without changes, the time at which watching began.
 * Paints and layout shifts also reveal changes in shadow trees.
 */
export const WATCH_CHANGES = `(types = ['layout-shift', 'largest-contentful-paint']) => {
  const beginning = performance.now();
  let last = beginning;
  let count = 0;
  const touch = () => {
    count += 1;
    last = performance.now();
  };
  const moves = new WeakMap();
  const isEndless = (element) => {
    const now = performance.now();
    const move = moves.get(element);
    const since = move !== undefined && now - move.last < ${PAUSE_MS} ? move.since : now;
    moves.set(element, { since, last: now });
    return now - since > ${MAX_MOVING_MS};
  };
  const mutations = new MutationObserver((records) => {
    for (const { type, target } of records) if (type !== 'attributes' || !isEndless(target)) touch();
  });
  mutations.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  let shifts = 0;
  const paints = new PerformanceObserver((list) => {
    // The observer may report paints from before the watch began.
    if (list.getEntries().every(({ startTime }) => startTime < beginning)) return;
    shifts += 1;
    if (shifts <= ${MAX_SHIFTS}) touch();
  });
  for (const type of types) paints.observe({ type });
  const root = Reflect.get(Document.prototype, 'documentElement', document);
  let height = root ? root.scrollHeight : 0;
  return {
    beginning,
    noticed: () => {
      const now = root ? root.scrollHeight : 0;
      if (now !== height) touch();
      height = now;
      return { count, last };
    },
    end: () => {
      mutations.disconnect();
      paints.disconnect();
    },
  };
}`;
