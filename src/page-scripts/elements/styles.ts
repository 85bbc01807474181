import type { Style } from '../dom/web.ts';
import { short } from './short.ts';

/** The styles of a map: those of its elements, each once. */
export class StyleTable {
  readonly styles: Record<string, string>[] = [];
  readonly #known = new Map<string, number>();

  /** Returns the index of what is seen of a style: with the font if the element has a text of its own. */
  indexOf(style: Style, hasText: boolean): number {
    const seen = seenOf(style, hasText);
    const key = JSON.stringify(seen);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, this.styles.length);
    return this.styles.push(seen) - 1;
  }
}

function seenOf(style: Style, hasText: boolean): Record<string, string> {
  const seen: Record<string, string> = { color: style.color };
  if (hasText) {
    seen['font-family'] = short(style.fontFamily, 60);
    seen['font-size'] = style.fontSize;
    if (style.fontWeight !== '400') seen['font-weight'] = style.fontWeight;
    if (style.fontStyle !== 'normal') seen['font-style'] = style.fontStyle;
    if (style.textDecorationLine !== 'none') seen['text-decoration'] = style.textDecorationLine;
  }
  if (!isClear(style.backgroundColor)) seen['background-color'] = style.backgroundColor;
  if (style.backgroundImage !== 'none') seen['background-image'] = short(style.backgroundImage, 100);
  const { borderWidth, borderStyle, borderColor } = style;
  if (borderWidth !== '0px') seen.border = short(`${borderWidth} ${borderStyle} ${borderColor}`, 150);
  if (style.boxShadow !== 'none') seen['box-shadow'] = short(style.boxShadow, 100);
  if (style.opacity !== '1') seen.opacity = style.opacity;
  return seen;
}

const isClear = (color: string): boolean => color.startsWith('rgba(') && color.endsWith(', 0)');
