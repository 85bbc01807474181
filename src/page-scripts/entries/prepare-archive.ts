import { showCanvases } from '../archive/canvases.ts';
import { type MarkedStyles, markStyles } from '../archive/styles.ts';
import { undoLater } from '../undo.ts';

/**
 * Puts a mark before each <style> element, and the picture of each canvas behind it: an archive has no pixels of
 * canvases. `sheets`: linked style sheets as they were sent. `restore-page` takes the changes back.
 */
export function run(
  sheets: readonly (readonly [url: string, text: string])[],
  mark: string,
): Pick<MarkedStyles, 'styles' | 'changed'> {
  const { styles, changed, undo } = markStyles(new Map(sheets), mark);
  undoLater(undo);
  undoLater(showCanvases());
  return { styles, changed };
}
