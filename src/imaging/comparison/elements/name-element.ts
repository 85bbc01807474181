import type { PageElement, PageTree } from './page-tree.ts';

/** Names that need no escaping in CSS. */
const PLAIN = /^[a-z_][\w-]{0,60}$/i;

/** Returns a function that names an element by a selector that matches only this element. */
export function elementNamer({ elements }: PageTree): (element: PageElement) => string {
  const counts = new Map<string, number>();
  for (const element of elements) {
    for (const name of namesOf(element)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const name = (element: PageElement): string => {
    const own = namesOf(element).find((each) => counts.get(each) === 1);
    const { parent, tag } = element;
    if (parent?.tag === 'iframe') return `${name(parent)} >> ${tag}`;
    if (own !== undefined && !isFramed(element)) return own;
    if (parent === null) return tag;
    const alike = parent.children.filter((other) => other.tag === tag);
    const step = alike.length === 1 ? tag : `${tag}:nth-of-type(${alike.indexOf(element) + 1})`;
    return `${name(parent)} > ${step}`;
  };
  return name;
}

function isFramed(element: PageElement): boolean {
  for (let each = element.parent; each !== null; each = each.parent) if (each.tag === 'iframe') return true;
  return false;
}

/** Possible names of an element by its id and classes, the best first. */
function namesOf({ tag, id, class: classes = '' }: PageElement): readonly string[] {
  const plain = classes.split(/\s+/).filter((each) => PLAIN.test(each));
  return [
    ...(id !== undefined && PLAIN.test(id) ? [`#${id}`] : []),
    ...plain.slice(0, 3).map((each) => `.${each}`),
    ...(PLAIN.test(tag) ? plain.slice(0, 3).map((each) => `${tag}.${each}`) : []),
  ];
}
