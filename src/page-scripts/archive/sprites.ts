import {
  append,
  attribute,
  bodyOf,
  firstElementOf,
  page,
  parseHtml,
  remove,
  removeAttribute,
  select,
  setAttribute,
} from '../dom/dom.ts';
import { setStyle } from '../dom/set-style.ts';
import { resolved } from '../dom/urls.ts';

const PREFIX = 'capstan-sprite-';
/** Ids, and references to them, in a file of SVG. */
const ID = /(\sid=["']|(?:href=["']|url\(["']?)#)/g;
/** Takes no room; gradients and masks of what is not displayed would not be drawn. */
const AWAY = { position: 'absolute', width: '0', height: '0', overflow: 'hidden' };

/**
 * Puts the files of SVG that `<use>` refers to into the page, because the document of an archive may not load them.
 * `files`: their texts by URL. Returns what takes them away.
 */
export function inlineSprites(files: ReadonlyMap<string, string>): (() => void)[] {
  const undo: (() => void)[] = [];
  const prefixes = new Map<string, string>();
  for (const use of files.size === 0 ? [] : select(page, 'use')) {
    const before = attribute(use, 'href');
    const written = before ?? attribute(use, 'xlink:href') ?? '';
    const [url = '', id] = resolved(written, use)?.href.split('#') ?? [];
    const text = files.get(url);
    if (text === undefined || id === undefined) continue;
    let prefix = prefixes.get(url);
    if (prefix === undefined) {
      prefix = `${PREFIX}${prefixes.size}-`;
      prefixes.set(url, prefix);
      undo.push(...show(text.replaceAll(ID, `$1${prefix}`)));
    }
    setAttribute(use, 'href', `#${prefix}${id}`);
    undo.push(() => (before === null ? removeAttribute(use, 'href') : setAttribute(use, 'href', before)));
  }
  return undo;
}

function show(svg: string): (() => void)[] {
  const [into, from] = [bodyOf(page), bodyOf(parseHtml(svg))];
  const file = from === null ? null : firstElementOf(from);
  if (into === null || file === null) return [];
  setStyle(file, AWAY);
  append(into, file);
  return [() => remove(file)];
}
