import { attribute, currentSrcOf, interfaceOf, page, removeAttribute, setAttribute } from '../dom/dom.ts';
import { selectInTrees } from '../dom/open-trees.ts';

const MAX_IMAGES = 1_000;

/** Names the images that only `srcset` names: an archive has no `srcset`. Returns what takes the names away. */
export function nameImages(): (() => void)[] {
  const unnamed = selectInTrees(page, 'img').filter(
    (image) => interfaceOf(image) === 'HTMLImageElement' && attribute(image, 'src') === null,
  );
  return unnamed.slice(0, MAX_IMAGES).flatMap((image) => {
    const source = currentSrcOf(image);
    if (source === '') return [];
    setAttribute(image, 'src', source);
    return [() => removeAttribute(image, 'src')];
  });
}
