import { MAX_SELECTOR_CHARACTERS, MAX_STEPS } from '../../../capture/comparison/selector.ts';
import { escapedName } from '../../../words/escaped-name.ts';
import { hashOf, mixed } from './hash.ts';
import type { PageElement, PageTree } from './page-tree.ts';

/** Names that need no escaping in CSS. */
const PLAIN = /^[a-z_][\w-]{0,60}$/i;

/** A selector, and the only element that it matches. */
export interface Named {
  readonly selector: string;
  readonly element: PageElement;
}

type NameOf = (element: PageElement) => string | undefined;

/**
 * Returns a function that names an element by a selector that matches only this element. When that takes too many
 * characters or frames, it names the nearest element around it for which it does not.
 */
export function elementNamer({ elements }: PageTree): (element: PageElement) => Named {
  const steps = stepsAmongSiblings();
  const names = uniqueNames(elements, namesOf);
  let places: NameOf | undefined;
  // Most long selectors have an end that only one element has. Found on demand, because few pages need it.
  const namesAndPlaces: NameOf = (element) => {
    places ??= uniqueNames(elements, (each) => [escapedName(each.tag), steps(each).place]);
    return names(element) ?? places(element);
  };
  const known = new Map<PageElement, Named>();
  const name = (element: PageElement): Named => {
    const selector = selectorOf(element, names, steps) ?? selectorOf(element, namesAndPlaces, steps);
    if (selector !== undefined) return { selector, element };
    return element.parent === null ? { selector: ':root', element } : named(element.parent);
  };
  const named = (element: PageElement): Named => {
    const found = known.get(element) ?? name(element);
    known.set(element, found);
    return found;
  };
  return named;
}

/**
 * Returns a key for each element, in the order of the elements: a hash of the names that lead to it. It is equal in
 * another capture of the page with the same names. Unlike a selector, it has no maximum length.
 */
export function elementKeys({ elements }: PageTree): Float64Array {
  const steps = stepsAmongSiblings();
  const names = uniqueNames(elements, namesOf);
  const keys = new Float64Array(elements.length);
  const framed = new Set<PageElement>();
  for (const element of elements) {
    const { parent, order } = element;
    if (parent !== null && (parent.tag === 'iframe' || framed.has(parent))) framed.add(element);
    const own = framed.has(element) ? undefined : names(element);
    const around = parent === null ? 0 : (keys[parent.order] ?? 0);
    keys[order] = own === undefined ? mixed(around, hashOf(steps(element).step)) : hashOf(own);
  }
  return keys;
}

/** Returns a function that returns the first name of an element that no other element has. */
function uniqueNames(elements: readonly PageElement[], all: (element: PageElement) => readonly string[]): NameOf {
  const counts = new Map<string, number>();
  for (const element of elements) {
    for (const name of all(element)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (element) => all(element).find((name) => counts.get(name) === 1);
}

/** Returns the steps from the nearest element with a name, or from the root; undefined when they are too many. */
function selectorOf(element: PageElement, nameOf: NameOf, steps: StepsOf): string | undefined {
  const frame = outermostFrame(element);
  let [each, isFramed, rest, entered] = [element, frame !== undefined, '', 0];
  while (rest.length <= MAX_SELECTOR_CHARACTERS && entered < MAX_STEPS) {
    isFramed &&= each !== frame;
    const { parent } = each;
    const isRoot = parent === null;
    const first = (isFramed ? undefined : nameOf(each)) ?? (isRoot ? steps(each).step : undefined);
    if (first !== undefined) return first.length + rest.length <= MAX_SELECTOR_CHARACTERS ? first + rest : undefined;
    if (isRoot) break;
    const enters = parent.tag === 'iframe';
    if (enters) entered += 1;
    rest = `${enters ? ` >> ${escapedName(each.tag)}` : ` > ${steps(each).step}`}${rest}`;
    each = parent;
  }
  return undefined;
}

interface Step {
  /** Matches the element among its siblings. */
  readonly step: string;
  /** The same with the number of the element, also when there is only one of its name. */
  readonly place: string;
}
type StepsOf = (element: PageElement) => Step;

/** Returns a function that leads from parents to their children: by their places among those with the same tag. */
function stepsAmongSiblings(): StepsOf {
  const known = new Map<PageElement, ReadonlyMap<PageElement, Step>>();
  return (element) => {
    const { parent, tag } = element;
    const ofRoot = { step: escapedName(tag), place: escapedName(tag) };
    if (parent === null) return ofRoot;
    const steps = known.get(parent) ?? stepsIn(parent);
    known.set(parent, steps);
    return steps.get(element) ?? ofRoot;
  };
}

function stepsIn(parent: PageElement): ReadonlyMap<PageElement, Step> {
  const steps = [...Map.groupBy(parent.children, ({ tag }) => tag)].flatMap(([tag, alike]) => {
    const name = escapedName(tag);
    return alike.map((child, at) => {
      const place = `${name}:nth-of-type(${at + 1})`;
      return [child, { step: alike.length === 1 ? name : place, place }] as const;
    });
  });
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
