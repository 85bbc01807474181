import { page, rootElementOf } from '../dom/dom.ts';
import { type MapLimits, Mapper } from '../elements/mapper.ts';
import type { ImagePlace } from '../elements/place.ts';
import { inParts, type TextBeginning } from '../running/in-parts.ts';

/** Characters of a map besides its styles and entries, with a margin. */
const MARGIN = 100;

/** Returns the element map of the page as JSON of at most `maxCharacters`. */
export function mapElements(image: ImagePlace, limits: MapLimits, maxCharacters: number): TextBeginning {
  const mapper = new Mapper(image, limits);
  const root = rootElementOf(page);
  if (root !== null) mapper.map(root);
  // Entries come after those that they refer to, and so do the styles that they have first, so the beginning of a map
  // that is too large is itself a valid map.
  const styles: string[] = [];
  const parts: string[] = [];
  let size = MARGIN;
  for (const entry of mapper.entries) {
    const part = JSON.stringify(entry);
    const style = 'style' in entry && entry.style === styles.length ? mapper.table.styles[entry.style] : undefined;
    const added = style === undefined ? '' : JSON.stringify(style);
    size += part.length + 1 + added.length + 1;
    if (size > maxCharacters) break;
    parts.push(part);
    if (style !== undefined) styles.push(added);
  }
  const partial = mapper.partial || parts.length < mapper.entries.length;
  return inParts(`{"styles":[${styles.join()}],"entries":[${parts.join()}],"partial":${partial}}`);
}
