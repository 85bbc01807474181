import {
  appendChild,
  attribute,
  bodyOf,
  firstElementOf,
  isDocument,
  type PageDocument,
  type PageParent,
  page,
  parseHtml,
  remove,
  removeAttribute,
  select,
  setAttribute,
} from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { setStyle } from '../dom/set-style.ts';
import { resolved } from '../dom/urls.ts';

const PREFIX = 'capstan-sprite-';
/** Ids, and references to them, in a file of SVG. */
const ID = /(\sid=["']|(?:href=["']|url\(["']?)#)/g;
/** Maximum number of characters of all copies: each shadow tree has its own. */
const MAX_COPIED = 2 * 1024 * 1024;
/** Takes no room; gradients and masks of what is not displayed would not be drawn. */
const AWAY = { position: 'absolute', width: '0', height: '0', overflow: 'hidden' };

/**
 * Puts the files of SVG that `<use>` refers to into the page, because the document of an archive may not load them.
 * `files`: their texts by URL. Returns what takes them away.
 */
export function inlineSprites(files: ReadonlyMap<string, string>): (() => void)[] {
  const undo: (() => void)[] = [];
  if (files.size === 0) return undo;
  let room = MAX_COPIED;
  const fits = (text: string): boolean => {
    if (text.length > room) return false;
    room -= text.length;
    return true;
  };
  // A reference finds ids of its own tree.
  for (const tree of treesIn<PageDocument>(page)) {
    const into = isDocument(tree) ? bodyOf(tree) : tree;
    if (into !== null) undo.push(...inlineIn(tree, into, files, fits));
  }
  return undo;
}

function inlineIn(
  tree: PageParent,
  into: PageParent,
  files: ReadonlyMap<string, string>,
  fits: (text: string) => boolean,
): (() => void)[] {
  const undo: (() => void)[] = [];
  const prefixes = new Map<string, string>();
  for (const use of select(tree, 'use')) {
    const before = attribute(use, 'href');
    const written = before ?? attribute(use, 'xlink:href') ?? '';
    const [url = '', id] = resolved(written, use)?.href.split('#') ?? [];
    const text = files.get(url);
    if (text === undefined || id === undefined) continue;
    let prefix = prefixes.get(url);
    if (prefix === undefined) {
      if (!fits(text)) continue;
      prefix = `${PREFIX}${prefixes.size}-`;
      prefixes.set(url, prefix);
      undo.push(...show(text.replaceAll(ID, `$1${prefix}`), into));
    }
    setAttribute(use, 'href', `#${prefix}${id}`);
    undo.push(() => (before === null ? removeAttribute(use, 'href') : setAttribute(use, 'href', before)));
  }
  return undo;
}

function show(svg: string, into: PageParent): (() => void)[] {
  const from = bodyOf(parseHtml(svg));
  const file = from === null ? null : firstElementOf(from);
  if (file === null) return [];
  setStyle(file, AWAY);
  appendChild(into, file);
  return [() => remove(file)];
}
