import { attribute, type PageElement, page, removeAttribute, select, setAttribute } from '../dom.ts';
import { treesIn } from '../open-trees.ts';
import { undoLater } from '../undo.ts';

/** Interfaces whose members an element of the same name hides from a form or from the document. */
const HIDDEN = ['Document', 'HTMLFormElement', 'HTMLElement', 'Element', 'Node', 'EventTarget'];

/**
 * Takes away names by which elements hide members of forms and of the document, until `restore-page`: for code that is
 * not ours, and reads members of nodes. An id to which another element refers stays.
 */
export function run(): void {
  const members = new Set(
    HIDDEN.flatMap((owner) => Object.getOwnPropertyNames(Reflect.get(globalThis, owner).prototype)),
  );
  const undo = treesIn(page).flatMap((tree) =>
    ['name', 'id'].flatMap((kind) =>
      select(tree, `[${kind}]`)
        .filter((element) => members.has(attribute(element, kind) ?? '') && !(kind === 'id' && isNamed(element)))
        .map((element) => without(element, kind)),
    ),
  );
  undoLater(undo);
}

function without(element: PageElement, kind: string): () => void {
  const before = attribute(element, kind) ?? '';
  removeAttribute(element, kind);
  return () => setAttribute(element, kind, before);
}

/** Whether an element refers to this one by its id. */
function isNamed(element: PageElement): boolean {
  const id = attribute(element, 'id') ?? '';
  const references = ['for', 'aria-labelledby', 'aria-describedby', 'aria-owns', 'aria-controls'];
  return select(page, references.map((name) => `[${name}~="${id}"]`).join(',')).length > 0;
}
