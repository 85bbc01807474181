import { attribute, attributeNamesOf, type PageElement } from '../dom/dom.ts';
import type { ElementEntry } from './entry.ts';

/** Attributes that say nothing of their own: what they give is seen, or is in the style. */
const UNSEEN = /* @__PURE__ */ new Set([
  'style',
  'src',
  'srcset',
  'sizes',
  'd',
  'points',
  'viewbox',
  'integrity',
  'nonce',
  'content',
]);
/** Maximum number of attributes of an element that are looked at, and that are kept. */
const MAX_LOOKED_AT = 50;
const MAX_KEPT = 12;
const MAX_ID_CHARACTERS = 200;
const MAX_CLASS_CHARACTERS = 300;
const MAX_NAME_CHARACTERS = 60;
const MAX_VALUE_CHARACTERS = 100;

/** Adds the attributes of an element to its entry. Objects for attributes cost more than their names and values. */
export function addAttributes(element: PageElement, entry: ElementEntry): void {
  const names = attributeNamesOf(element);
  let kept = 0;
  let others: Record<string, string> | undefined;
  for (let at = 0; at < names.length && at < MAX_LOOKED_AT && kept < MAX_KEPT; at += 1) {
    const name = names[at] ?? '';
    if (name === 'id') entry.id = textOf(element, name, MAX_ID_CHARACTERS);
    else if (name === 'class') entry.class = textOf(element, name, MAX_CLASS_CHARACTERS);
    else if (name.length <= MAX_NAME_CHARACTERS && !UNSEEN.has(name) && !name.startsWith('on')) {
      others ??= {};
      others[name] = textOf(element, name, MAX_VALUE_CHARACTERS);
      kept += 1;
    }
  }
  if (others !== undefined) entry.attributes = others;
}

function textOf(element: PageElement, name: string, maxCharacters: number): string {
  return (attribute(element, name) ?? '').slice(0, maxCharacters).toWellFormed();
}
