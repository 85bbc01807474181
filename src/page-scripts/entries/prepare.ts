import { markAddedStyles } from '../archive/added-styles.ts';
import { showCanvases } from '../archive/canvases.ts';
import { nameDoctype } from '../archive/doctype.ts';
import { nameImages } from '../archive/images.ts';
import { inlineSprites } from '../archive/sprites.ts';
import { type MarkedStyles, markStyles } from '../archive/styles.ts';
import { attribute, type PageElement, type PageRoot, page, removeAttribute, select, setAttribute } from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { kept } from '../running/kept.ts';
import { undoLater } from '../running/undo.ts';

/** Whether the document was prepared for the screenshot. */
const preparation = (): { isDone: boolean } => kept('prepared', () => ({ isDone: false }));

/** Returns whether the document was marked as prepared for the screenshot. */
export function isPrepared(): boolean {
  return preparation().isDone;
}

/** Marks the document as prepared for the screenshot. */
export function markPrepared(): void {
  preparation().isDone = true;
}

/**
 * Puts marks where the archive needs style sheets, the picture of each canvas behind it (an archive has no pixels of
 * canvases), and names the images that have no `src`. `sheets`: linked style sheets as they were sent; `sprites`: files
 * that `<use>` refers to. `restorePage` takes the changes back.
 */
export function prepareArchive(
  sheets: readonly (readonly [url: string, text: string])[],
  mark: string,
  addedMark: string,
  sprites: readonly (readonly [url: string, text: string])[],
): Pick<MarkedStyles, 'styles' | 'changed'> & { readonly added: readonly string[] } {
  const { styles, changed, undo } = markStyles(new Map(sheets), mark);
  undoLater(undo);
  const added = prepareFrame(addedMark, 0, sprites);
  return { styles, changed, added };
}

/** As `prepareArchive`, for the document of a frame, whose linked style sheets are not compared with the sent ones. */
export function prepareFrame(
  mark: string,
  first: number,
  sprites: readonly (readonly [url: string, text: string])[],
): readonly string[] {
  const { added, undo } = markAddedStyles(mark, first);
  undoLater(undo);
  undoLater(showCanvases());
  undoLater(nameImages());
  undoLater(inlineSprites(new Map(sprites)));
  undoLater(nameDoctype());
  return added;
}

/** Interfaces whose members an element of the same name hides from a form or from the document. */
const HIDDEN = ['Document', 'HTMLFormElement', 'HTMLElement', 'Element', 'Node', 'EventTarget'];

/** Attributes by which elements refer to others by their ids. */
const references = () =>
  ['for', 'form', 'list', 'headers'].concat(
    ['labelledby', 'describedby', 'owns', 'controls', 'activedescendant', 'details', 'errormessage', 'flowto'].map(
      (name) => `aria-${name}`,
    ),
  );

/**
 * Takes away names and ids by which elements hide members of forms and of the document, until `restorePage`: for code
 * that is not ours, and reads members of nodes. Elements that refer to such an id refer to the one in its place.
 */
export function freeMembers(): void {
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
  for (const name of references()) {
    for (const referring of select(tree, `[${name}]`)) {
      const ids = (attribute(referring, name) ?? '').split(/\s+/);
      if (!ids.some((id) => replaced.has(id))) continue;
      change(referring, name, ids.map((id) => (replaced.has(id) ? otherId(id) : id)).join(' '));
    }
  }
}

/** Changes an attribute, or removes it, until `restorePage`. */
function change(element: PageElement, name: string, value: string | undefined): void {
  const before = attribute(element, name) ?? '';
  if (value === undefined) removeAttribute(element, name);
  else setAttribute(element, name, value);
  undoLater([() => setAttribute(element, name, before)]);
}
