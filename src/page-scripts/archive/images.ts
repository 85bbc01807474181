import { attribute, currentSrcOf, interfaceOf, page, removeAttribute, setAttribute } from '../dom/dom.ts';
import { selectInTrees } from '../dom/open-trees.ts';

/** Beyond this, images of pictures are left out of the archive: their sources are removed from it. */
const MAX_IMAGES = 10_000;

/**
 * Names the images that only `srcset` names, or the sources of a picture: an archive has neither. Returns what takes the
 * names away.
 */
export function nameImages(): (() => void)[] {
  const unnamed = selectInTrees(page, 'img:not([src]), picture > img').filter(
    (image) => interfaceOf(image) === 'HTMLImageElement',
  );
  return unnamed.slice(0, MAX_IMAGES).flatMap((image) => {
    const before = attribute(image, 'src');
    const source = currentSrcOf(image);
    if (source === '') return [];
    setAttribute(image, 'src', source);
    return [() => (before === null ? removeAttribute(image, 'src') : setAttribute(image, 'src', before))];
  });
}
