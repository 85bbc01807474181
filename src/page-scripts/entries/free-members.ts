import { attribute, type PageElement, type PageRoot, page, removeAttribute, select, setAttribute } from '../dom.ts';
import { treesIn } from '../open-trees.ts';
import { undoLater } from '../undo.ts';

/** Interfaces whose members an element of the same name hides from a form or from the document. */
const HIDDEN = ['Document', 'HTMLFormElement', 'HTMLElement', 'Element', 'Node', 'EventTarget'];

/** Attributes by which elements refer to others by their ids. */
const REFERENCES = ['for', 'form', 'list', 'headers'].concat(
  ['labelledby', 'describedby', 'owns', 'controls', 'activedescendant', 'details', 'errormessage', 'flowto'].map(
    (name) => `aria-${name}`,
  ),
);

/**
 * Takes away names and ids by which elements hide members of forms and of the document, until `restore-page`: for code
 * that is not ours, and reads members of nodes. Elements that refer to such an id refer to the one in its place.
 */
export function run(): void {
  const members = new Set(
    HIDDEN.flatMap((owner) => Object.getOwnPropertyNames(Reflect.get(globalThis, owner).prototype)),
  );
  const hides = (element: PageElement, kind: string) => members.has(attribute(element, kind) ?? '');
  for (const tree of treesIn(page)) {
    for (const element of select(tree, '[name]')) if (hides(element, 'name')) change(element, 'name', undefined);
    const named = select(tree, '[id]').filter((element) => hides(element, 'id'));
    for (const element of named) change(element, 'id', otherId(attribute(element, 'id') ?? ''));
    if (named.length > 0) replaceReferences(tree, members);
  }
}

const otherId = (id: string) => `capstan-${id}`;

function replaceReferences(tree: PageRoot, replaced: ReadonlySet<string>): void {
  for (const name of REFERENCES) {
    for (const referring of select(tree, `[${name}]`)) {
      const ids = (attribute(referring, name) ?? '').split(/\s+/);
      if (!ids.some((id) => replaced.has(id))) continue;
      change(referring, name, ids.map((id) => (replaced.has(id) ? otherId(id) : id)).join(' '));
    }
  }
}

/** Changes an attribute, or removes it, until `restore-page`. */
function change(element: PageElement, name: string, value: string | undefined): void {
  const before = attribute(element, name) ?? '';
  if (value === undefined) removeAttribute(element, name);
  else setAttribute(element, name, value);
  undoLater([() => setAttribute(element, name, before)]);
}
