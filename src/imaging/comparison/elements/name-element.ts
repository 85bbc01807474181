import type { PageElement, PageTree } from './page-tree.ts';

/** Names that need no escaping in CSS. */
const PLAIN = /^[a-z_][\w-]{0,60}$/i;

/** Returns a function that names an element by a selector that matches only this element. */
export function elementNamer({ elements }: PageTree): (element: PageElement) => string {
  const counts = new Map<string, number>();
  for (const element of elements) {
    for (const name of namesOf(element)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const steps = new Map<PageElement, ReadonlyMap<PageElement, string>>();
  const stepTo = (child: PageElement, parent: PageElement): string => {
    const known = steps.get(parent) ?? stepsIn(parent);
    steps.set(parent, known);
    return known.get(child) ?? child.tag;
  };
  return (element) => {
    const frame = outermostFrame(element);
    let [each, isFramed, rest] = [element, frame !== undefined, ''];
    for (;;) {
      isFramed &&= each !== frame;
      const own = isFramed ? undefined : namesOf(each).find((name) => counts.get(name) === 1);
      if (own !== undefined) return own + rest;
      const { parent, tag } = each;
      if (parent === null) return tag + rest;
      rest = (parent.tag === 'iframe' ? ` >> ${tag}` : ` > ${stepTo(each, parent)}`) + rest;
      each = parent;
    }
  };
}

/** Returns the steps that lead from an element to its children, by their places among those with the same tag. */
function stepsIn(parent: PageElement): ReadonlyMap<PageElement, string> {
  const steps = [...Map.groupBy(parent.children, ({ tag }) => tag)].flatMap(([tag, alike]) =>
    alike.map((child, at) => [child, alike.length === 1 ? tag : `${tag}:nth-of-type(${at + 1})`] as const),
  );
  return new Map(steps);
}

function outermostFrame(element: PageElement): PageElement | undefined {
  let frame: PageElement | undefined;
  for (let each = element.parent; each !== null; each = each.parent) if (each.tag === 'iframe') frame = each;
  return frame;
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
