import { composedParent } from '../dom/composed-tree.ts';
import { type StyleOf, stylesOfPage } from '../dom/computed-style.ts';
import { isElement, type PageElement, type PageNode } from '../dom/dom.ts';
import { type Item, isWords, type Words } from '../painted/items.ts';
import { joinText } from '../painted/join-text.ts';

/** Cents are smaller than the amount before them by at least this. */
const MAX_SIZE_OF_CENTS = 0.8;

/**
 * Joins the painted items in an element as a price is read: without what is struck through, and with a separator before
 * cents that only their size or place sets apart, as in `12<sup>99</sup>`.
 */
export function moneyText<Mark>(items: readonly Item<Mark>[], element: PageElement): string {
  const styleOf = stylesOfPage();
  const kept = items.filter((item) => !isWords(item) || !isStruck(item.parent, element, styleOf));
  return joinText(kept.map((item, at) => withSeparator(item, kept[at - 1], styleOf)));
}

/** Whether an element between `outer` and a text strikes the text through. `outer` itself was asked for. */
function isStruck(parent: PageElement, outer: PageElement, styleOf: StyleOf): boolean {
  for (let each: PageNode | null = parent; isElement(each) && each !== outer; each = composedParent(each)) {
    if (styleOf(each).textDecorationLine.includes('line-through')) return true;
  }
  return false;
}

function withSeparator<Mark>(item: Item<Mark>, before: Item<Mark> | undefined, styleOf: StyleOf): Item<Mark> {
  if (before === undefined || !isWords(item) || !isWords(before)) return item;
  // A sign and a word beside it, as in `13 000<span>kr</span><span>Ord. pris</span>`.
  if (item.parent !== before.parent && /\p{L}$/u.test(before.text) && /^\p{L}/u.test(item.text)) {
    return { ...item, text: ` ${item.text}` };
  }
  const isAfterDigits = /\p{Nd}\s*$/u.test(before.text) && /^\s*\p{Nd}{2}(?!\p{Nd})/u.test(item.text);
  if (!isAfterDigits || !isSetApart(item, before, styleOf)) return item;
  return { ...item, text: `${before.text.includes('.') ? ',' : '.'}${item.text.trimStart()}` };
}

function isSetApart<Mark>(item: Words<Mark>, before: Words<Mark>, styleOf: StyleOf): boolean {
  if (item.parent === before.parent) return false;
  const [own, other] = [styleOf(item.parent), styleOf(before.parent)];
  const isRaised = /^(?:super|top|text-top)$/.test(own.verticalAlign);
  return isRaised || Number.parseFloat(own.fontSize) <= MAX_SIZE_OF_CENTS * Number.parseFloat(other.fontSize);
}
