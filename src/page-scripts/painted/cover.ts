import { composedParent } from '../composed-tree.ts';
import type { StyleOf } from '../computed-style.ts';
import { isElement, nameOf, type PageElement, type PageNode } from '../dom.ts';
import type { Style } from '../web.ts';
import { isClear, isNear, isOpaqueColour } from './colours.ts';

const MIN_OPACITY = 0.95;
/** Elements that cover what is below them without a background. */
const PICTURE = /^(?:img|video|canvas|iframe|embed|object)$/;

/** Tells which elements cover others, and which text has the colour of its background. */
export interface Cover {
  isOpaque(element: PageElement): boolean;
  /** Whether the colour of the text is that of what lies below it: elements at its place, the topmost first. */
  isSameColour(style: Style, below: readonly PageElement[]): boolean;
}

export function coverOf(styleOf: StyleOf): Cover {
  const opacities = new WeakMap<PageElement, number>();
  const ownOpacity = (element: PageElement) => {
    const known = opacities.get(element);
    if (known !== undefined) return known;
    const opacity = Number(styleOf(element).opacity);
    opacities.set(element, opacity);
    return opacity;
  };
  const opacityOf = (element: PageElement) => {
    let product = 1;
    for (let each: PageNode | null = element; isElement(each) && product >= MIN_OPACITY; each = composedParent(each)) {
      product *= ownOpacity(each);
    }
    return product;
  };
  const isOpaque = (element: PageElement) => {
    const style = styleOf(element);
    if (style.mixBlendMode !== 'normal' || style.maskImage !== 'none') return false;
    const isFilled = isOpaqueColour(style.backgroundColor) && style.backgroundClip !== 'text';
    return (isFilled || PICTURE.test(nameOf(element))) && opacityOf(element) >= MIN_OPACITY;
  };
  const isSameColour = (style: Style, below: readonly PageElement[]) => {
    if (style.textShadow !== 'none' || Number.parseFloat(style.webkitTextStrokeWidth) > 0) return false;
    const colour = style.webkitTextFillColor;
    for (const each of below) {
      const { backgroundColor, backgroundImage, backgroundClip } = styleOf(each);
      if (backgroundClip === 'text') return false;
      if (backgroundImage !== 'none' || /^(?:img|video|canvas)$/.test(nameOf(each))) {
        return isSameInGradient(colour, backgroundImage);
      }
      if (!isClear(backgroundColor)) return isOpaqueColour(backgroundColor) && isNear(colour, backgroundColor);
    }
    return isNear(colour, 'rgb(255, 255, 255)');
  };
  return { isOpaque, isSameColour };
}

/** The colours of other pictures than gradients are unknown. */
function isSameInGradient(colour: string, image: string): boolean {
  const stops = image.match(/rgba?\([^)]*\)/g);
  if (stops === null || !/gradient\(/.test(image) || /url\(/.test(image)) return false;
  return stops.every((stop) => isNear(colour, stop));
}
