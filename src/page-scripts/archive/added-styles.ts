import {
  appendChild,
  baseOf,
  createComment,
  headOf,
  insertBefore,
  interfaceOf,
  isDocument,
  isElement,
  type PageDocument,
  type PageFragment,
  type PageNode,
  page,
  remove,
  select,
} from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { adoptedSheetsOf, type StyleSheet, sheetsOf } from '../dom/styles.ts';
import { withAbsoluteUrls } from './styles.ts';

/** Where no scripts run, Chromium gives controls to each video, which lie over its poster. */
const WITHOUT_CONTROLS = 'video:not([controls])::-webkit-media-controls { display: none !important }';
const MAX_SHEETS = 2_000;
/** Maximum number of characters of all style sheets. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

interface AddedStyles {
  /** The text of each style sheet. */
  readonly added: string[];
  /** Takes the marks away. */
  readonly undo: (() => void)[];
}

/**
 * Puts a mark where an archive needs a style sheet that Chromium leaves out: those in open shadow trees, and those that
 * scripts have added to a tree. A mark is a comment of `mark` and a number; the first number is `first`.
 */
export function markAddedStyles(mark: string, first: number): AddedStyles {
  const found: AddedStyles = { added: [], undo: [] };
  let room = MAX_CHARACTERS;
  const add = (text: string, place: (comment: PageNode) => void) => {
    room -= text.length;
    if (text === '' || room < 0 || found.added.length === MAX_SHEETS) return;
    const comment = createComment(page, `${mark}${first + found.added.push(text) - 1}`);
    place(comment);
    found.undo.push(() => remove(comment));
  };
  for (const tree of treesIn<PageDocument>(page)) {
    if (!isDocument(tree)) addOwn(tree, add);
    const hasVideo = select(tree, 'video:not([controls])').length > 0;
    // The last element of a tree would have another one after it, which selectors see. The head of a document shows
    // none.
    const end = isDocument(tree) ? headOf(tree) : tree;
    if (end === null) continue;
    const texts = adoptedSheetsOf(tree).map((sheet) => textOf(sheet, baseOf(page)));
    for (const text of hasVideo ? [...texts, WITHOUT_CONTROLS] : texts) {
      add(text, (comment) => void appendChild(end, comment));
    }
  }
  return found;
}

function addOwn(tree: PageFragment, add: (text: string, place: (comment: PageNode) => void) => void): void {
  for (const sheet of sheetsOf(tree)) {
    const { ownerNode: owner } = sheet;
    if (!isElement(owner) || !['HTMLStyleElement', 'HTMLLinkElement'].includes(interfaceOf(owner))) continue;
    add(textOf(sheet, sheet.href ?? baseOf(owner)), (comment) => insertBefore(owner, comment));
  }
}

/** Returns the rules of a style sheet; none when it is off, or of another origin. */
function textOf(sheet: StyleSheet, base: string): string {
  if (sheet.disabled) return '';
  try {
    const text = withAbsoluteUrls([...sheet.cssRules].map(({ cssText }) => cssText).join('\n'), base);
    const { mediaText } = sheet.media;
    return mediaText === '' || text === '' ? text : `@media ${mediaText} {\n${text}\n}`;
  } catch {
    return '';
  }
}
