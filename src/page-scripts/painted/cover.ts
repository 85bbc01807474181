import { composedParent } from '../dom/composed-tree.ts';
import type { StyleOf } from '../dom/computed-style.ts';
import { isElement, nameOf, type PageElement, type PageNode } from '../dom/dom.ts';
import type { Style } from '../dom/web.ts';
import { isClear, isNear, isOpaqueColour } from './colours.ts';

const MIN_OPACITY = 0.95;
/** Elements that cover what is below them without a background. */
const PICTURE = /^(?:img|video|canvas|iframe|embed|object)$/;

/** Tells which elements cover others, and which text has the colour of its background. */
export interface Cover {
  isOpaque(element: PageElement): boolean;
  /** Whether the colour of the text is that of what lies below it: elements at its place, the topmost first. */
  isSameColour(style: Style, below: readonly PageElement[]): boolean;
  /** The same for a text below which there are only the elements around it. */
  isColourAround(parent: PageElement): boolean;
}

/** A background that hides what is below it; null for an element that shows it. */
interface Ground {
  readonly colour: string;
  readonly image: string;
  /** Whether it is a picture, or drawn in the text alone. */
  readonly isUnknown: boolean;
  /** Whether a text of a colour is lost on it. Most texts share their colours. */
  readonly lost: Map<string, boolean>;
}

const WHITE: Ground = { colour: 'rgb(255, 255, 255)', image: 'none', isUnknown: false, lost: new Map() };

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
  // Each background is read once, and below most texts there are the same.
  const grounds = new WeakMap<PageElement, Ground>();
  const groundAround = (parent: PageElement): Ground => {
    const passed: PageElement[] = [];
    let ground: Ground | null = null;
    for (let each: PageNode | null = parent; ground === null && isElement(each); each = composedParent(each)) {
      passed.push(each);
      ground = grounds.get(each) ?? groundOf(each, styleOf(each));
    }
    for (const each of passed) grounds.set(each, ground ?? WHITE);
    return ground ?? WHITE;
  };
  const isSameColour = (style: Style, below: readonly PageElement[]) => {
    if (isOutlined(style)) return false;
    for (const each of below) {
      const ground = groundOf(each, styleOf(each));
      if (ground !== null) return isLost(style, ground);
    }
    return isLost(style, WHITE);
  };
  const isColourAround = (parent: PageElement) => {
    const style = styleOf(parent);
    return !isOutlined(style) && isLost(style, groundAround(parent));
  };
  return { isOpaque, isSameColour, isColourAround };
}

const isOutlined = ({ textShadow, webkitTextStrokeWidth }: Style): boolean =>
  textShadow !== 'none' || Number.parseFloat(webkitTextStrokeWidth) > 0;

function groundOf(
  element: PageElement,
  { backgroundColor: colour, backgroundImage: image, backgroundClip }: Style,
): Ground | null {
  const isUnknown = backgroundClip === 'text' || /^(?:img|video|canvas)$/.test(nameOf(element));
  return isUnknown || image !== 'none' || !isClear(colour) ? { colour, image, isUnknown, lost: new Map() } : null;
}

/** Whether nobody sees a text of this style on a background. */
function isLost({ webkitTextFillColor: text }: Style, { colour, image, isUnknown, lost }: Ground): boolean {
  if (isUnknown) return false;
  const known = lost.get(text);
  if (known !== undefined) return known;
  const is = image === 'none' ? isOpaqueColour(colour) && isNear(text, colour) : isSameInGradient(text, image);
  lost.set(text, is);
  return is;
}

/** The colours of other pictures than gradients are unknown. */
function isSameInGradient(colour: string, image: string): boolean {
  const stops = image.match(/rgba?\([^)]*\)/g);
  if (stops === null || !/gradient\(/.test(image) || /url\(/.test(image)) return false;
  return stops.every((stop) => isNear(colour, stop));
}
