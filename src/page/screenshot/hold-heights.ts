const ELEMENTS = `Document.prototype.querySelectorAll.call(document, 'body, body *')`;

/** Runs in the page. Notes the height of each element, and the position of fixed ones, for `KEEP_HEIGHTS`. */
export const NOTE_HEIGHTS = `() => {
  globalThis.capstanHeights = new Map();
  for (const element of ${ELEMENTS}) {
    const { height, minHeight, position, top } = getComputedStyle(element);
    const place = position === 'fixed' ? { top, bottom: 'auto' } : {};
    capstanHeights.set(element, { height, 'min-height': minHeight, ...place });
  }
}`;

/**
 * Runs in the page, in a window of another height. What follows the height of the window, as `100vh` does, keeps the
 * height that was noted, and fixed elements their position.
 */
export const KEEP_HEIGHTS = `(setStyle) => {
  const follows = [...(globalThis.capstanHeights ?? [])].filter(([element, noted]) => {
    const { height, minHeight, top } = getComputedStyle(element);
    return height !== noted.height || minHeight !== noted['min-height'] || (noted.top !== undefined && top !== noted.top);
  });
  for (const [element, noted] of follows) setStyle(element, noted);
}`;
