import { type AddedStyles, markAddedStyles } from '../archive/added-styles.ts';
import { showCanvases } from '../archive/canvases.ts';
import { nameImages } from '../archive/images.ts';
import { type MarkedStyles, markStyles } from '../archive/styles.ts';
import { undoLater } from '../undo.ts';

/**
 * Puts marks where the archive needs style sheets, the picture of each canvas behind it (an archive has no pixels of
 * canvases), and names the images that have no `src`. `sheets`: linked style sheets as they were sent. `restore-page` takes
 * the changes back.
 */
export function run(
  sheets: readonly (readonly [url: string, text: string])[],
  mark: string,
  addedMark: string,
): Pick<MarkedStyles, 'styles' | 'changed'> & Pick<AddedStyles, 'added'> {
  const { styles, changed, undo } = markStyles(new Map(sheets), mark);
  undoLater(undo);
  const { added, undo: undoAdded } = markAddedStyles(addedMark);
  undoLater(undoAdded);
  undoLater(showCanvases());
  undoLater(nameImages());
  return { styles, changed, added };
}
