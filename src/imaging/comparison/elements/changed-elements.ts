import {
  type Box,
  type ElementChange,
  type ElementsDifference,
  MAX_CHANGED_ELEMENTS,
  type StyleChange,
} from '../../../capture/comparison/comparison.ts';
import type { Matching } from './match-elements.ts';
import { elementNamer } from './name-element.ts';
import { boxAround, type PageElement, type PageTree, within } from './page-tree.ts';

/** Differences between an element before and after. */
export interface Edit {
  readonly a: PageElement;
  readonly b: PageElement;
  readonly text: boolean;
  readonly style: boolean;
  readonly image: boolean;
}

/** Returns the elements whose own texts, styles or images differ. */
export function editsOf({ before }: Matching): readonly Edit[] {
  return [...before].flatMap(([b, a]) => {
    const text = hashes(a) !== hashes(b);
    // An element that one image does not show has no style there.
    const style = a.box !== null && b.box !== null && stylesOf(a, b).length > 0;
    const image = a.image !== b.image;
    return text || style || image ? [{ a, b, text, style, image }] : [];
  });
}

interface Captured {
  readonly tree: PageTree;
  /** Size of the image; null when images are not compared. */
  readonly size: Pick<Box, 'width' | 'height'> | null;
  readonly ignored: ReadonlySet<PageElement>;
}

/** Returns the changed elements for the answer, in the order of the second document. */
export function changedElements(
  matching: Matching,
  edits: readonly Edit[],
  a: Captured,
  b: Captured,
  /** Null for all; otherwise only these elements, their descendants and their ancestors. */
  wanted: { readonly a: ReadonlySet<PageElement>; readonly b: ReadonlySet<PageElement> } | null,
): ElementsDifference {
  const [nameA, nameB] = [elementNamer(a.tree), elementNamer(b.tree)];
  const place = (element: PageElement, { size }: Captured) => {
    const box = boxAround(element);
    return box === null || size === null ? null : within(box, size);
  };
  const [aroundA, aroundB] = [ancestorsOf(wanted?.a), ancestorsOf(wanted?.b)];
  const isWanted = (one: PageElement | null, other: PageElement | null) =>
    !(one !== null && a.ignored.has(one)) &&
    !(other !== null && b.ignored.has(other)) &&
    (wanted === null || touches(one, wanted.a, aroundA) || touches(other, wanted.b, aroundB));
  const found: Change[] = [];
  const add = (kind: ElementChange['kind'], one: PageElement | null, other: PageElement | null, edit?: Edit) => {
    const shown = other ?? one;
    if (shown === null || !isWanted(one, other) || (kind !== 'edited' && boxAround(shown) === null)) return;
    found.push({ kind, one, other, shown, edit });
  };
  for (const each of matching.removed) add('removed', each, null);
  for (const each of matching.inserted) add('inserted', null, each);
  for (const [one, other] of matching.moved) add('moved', one, other);
  for (const edit of edits) add('edited', edit.a, edit.b, edit);
  found.sort((one, other) => one.shown.order - other.shown.order);
  return {
    changes: found.slice(0, MAX_CHANGED_ELEMENTS).map(({ kind, one, other, shown, edit }) => ({
      selector: (other === null ? nameA(shown) : nameB(shown)).selector,
      kind,
      from: one && place(one, a),
      to: other && place(other, b),
      text: edit?.text ? { from: shortText(edit.a), to: shortText(edit.b) } : null,
      style: edit?.style ? stylesOf(edit.a, edit.b) : [],
      image: edit?.image ? { from: edit.a.image ?? '', to: edit.b.image ?? '' } : null,
    })),
    truncated: found.length > MAX_CHANGED_ELEMENTS,
  };
}

/** A change before it is described: only the listed ones are. */
interface Change {
  readonly kind: ElementChange['kind'];
  readonly one: PageElement | null;
  readonly other: PageElement | null;
  /** The element that names it. */
  readonly shown: PageElement;
  readonly edit: Edit | undefined;
}

/** Whether an element is one of these, a descendant of one, or an ancestor of one. */
function touches(
  element: PageElement | null,
  wanted: ReadonlySet<PageElement>,
  around: ReadonlySet<PageElement>,
): boolean {
  if (element === null) return false;
  for (let each: PageElement | null = element; each !== null; each = each.parent) if (wanted.has(each)) return true;
  return around.has(element);
}

function ancestorsOf(elements: Iterable<PageElement> = []): ReadonlySet<PageElement> {
  const found = new Set<PageElement>();
  for (const { parent } of elements) {
    for (let each = parent; each !== null && !found.has(each); each = each.parent) found.add(each);
  }
  return found;
}

function hashes({ texts }: PageElement): string {
  return texts.map(({ hash }) => hash).join(' ');
}

function shortText({ texts }: PageElement): string {
  return texts
    .map(({ text, length }) => (length > text.length ? `${text}…` : text))
    .join(' ')
    .slice(0, 300);
}

function stylesOf(a: PageElement, b: PageElement): StyleChange[] {
  const names = [...new Set([...Object.keys(a.style), ...Object.keys(b.style)])];
  const changes = names.map((property) => ({ property, from: a.style[property] ?? '', to: b.style[property] ?? '' }));
  return changes.filter(({ from, to }) => from !== to);
}
