import { type Deadline, within } from '../../capture/deadline.ts';
import { MAX_ENTRIES, MAX_MAP_CHARACTERS, MAX_SHORT_CHARACTERS } from '../../capture/element-map.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { evaluate } from '../../page/ask-page.ts';
import type { IsolatedPage } from '../../page/isolated-page.ts';
import type { Call } from '../../page/page-scripts.ts';
import type { Picture } from '../../page/screenshot/picture.ts';
import { inParts, wholeText } from '../../page/text-in-parts.ts';
import { imageFrame } from '../outputs/image-boxes.ts';
import { NODES } from '../outputs/nodes.ts';

/** Maximum depth of elements, which fits on a script's stack. */
const MAX_DEPTH = 500;
/** Time in milliseconds after which the script ends with what it has. Measured: 10,000 entries take 120 ms of CPU. */
const SCRIPT_MS = 1_500;
/** Maximum time to wait for the answer, and its share of the remaining time. */
const MAX_MS = 5_000;
const SHARE = 0.2;

/**
 * Returns the element map of a page after its screenshot, as JSON; null when it is not requested, or not ready in time.
 * Rejects only when the capture is cancelled or late.
 */
export async function mapElements(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
  picture: Picture,
): Promise<string | null> {
  // A stopped page runs no scripts, ours included.
  if (!request.elementMap || picture.held) return null;
  const { document } = page.frame;
  const ms = Math.min(MAX_MS, deadline.remainingMs * SHARE);
  const asked = ask(page, request, picture, ms).catch((error: unknown) => {
    if (error instanceof CdpClosedError) throw error;
    return undefined;
  });
  const answer = await deadline.step('map the elements', within(ms, asked, undefined));
  const isMap = typeof answer === 'string' && answer.length <= MAX_MAP_CHARACTERS;
  return isMap && page.frame.document === document ? answer : null;
}

async function ask(page: IsolatedPage, request: CaptureRequest, picture: Picture, ms: number): Promise<unknown> {
  const frame = await imageFrame({ page, request, picture });
  if (frame === null) return undefined;
  const inPage = (expression: string) => evaluate(page, expression, { timeoutMs: ms });
  const text = await wholeText(inPage, inParts(`(${MAP})(${JSON.stringify(frame)})` as Call), MAX_MAP_CHARACTERS);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * Runs in the page. `image`: where the image is in the window. Every element of the document is an entry, even without
 * a box, so that selectors can count siblings. Descendants of an element outside of the image are left out. Elements in
 * open shadow roots are children of their hosts, and documents of same-origin frames are children of their frames.
 */
const MAP = `(image) => {
  const endsAt = performance.now() + ${SCRIPT_MS};
  const { typeOf, firstOf, nextOf, textOf, nameOf, shadowOf, rootElementOf, framed, attribute, boxOf } = ${NODES};
  // Objects for attributes cost more than their names and values.
  const { getAttributeNames } = Element.prototype;
  const sourceOf = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'currentSrc').get;
  const [entries, styles, known] = [[], [], new Map()];
  let partial = false;

  const hashOf = (text) => {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return hash >>> 0;
  };
  const short = (text, most) => text.length <= most ? text.toWellFormed() : text.slice(0, most).toWellFormed() + '#' + hashOf(text);
  const toImage = ({ left, top, right, bottom }) => {
    const [x, y] = [Math.round((left - image.left) * image.scale), Math.round((top - image.top) * image.scale)];
    const width = Math.max(1, Math.round((right - image.left) * image.scale) - x);
    const height = Math.max(1, Math.round((bottom - image.top) * image.scale) - y);
    return x < image.width && y < image.height && x + width > 0 && y + height > 0 ? [x, y, width, height] : undefined;
  };
  const isClear = (color) => color.startsWith('rgba(') && color.endsWith(', 0)');
  const styleOf = (style, hasText) => {
    const shown = { color: style.color };
    if (hasText) {
      shown['font-family'] = short(style.fontFamily, 60);
      shown['font-size'] = style.fontSize;
      if (style.fontWeight !== '400') shown['font-weight'] = style.fontWeight;
      if (style.fontStyle !== 'normal') shown['font-style'] = style.fontStyle;
      if (style.textDecorationLine !== 'none') shown['text-decoration'] = style.textDecorationLine;
    }
    if (!isClear(style.backgroundColor)) shown['background-color'] = style.backgroundColor;
    if (style.backgroundImage !== 'none') shown['background-image'] = short(style.backgroundImage, 100);
    if (style.borderWidth !== '0px') shown.border = short(style.borderWidth + ' ' + style.borderStyle + ' ' + style.borderColor, 150);
    if (style.boxShadow !== 'none') shown['box-shadow'] = short(style.boxShadow, 100);
    if (style.opacity !== '1') shown.opacity = style.opacity;
    const key = JSON.stringify(shown);
    if (!known.has(key)) {
      known.set(key, styles.length);
      styles.push(shown);
    }
    return known.get(key);
  };
  const UNSEEN = new Set(['style', 'src', 'srcset', 'sizes', 'd', 'points', 'viewbox', 'integrity', 'nonce', 'content']);
  const attributesIn = (element, entry) => {
    const names = getAttributeNames.call(element);
    let [kept, others] = [0, undefined];
    for (let at = 0; at < names.length && at < 50 && kept < 12; at += 1) {
      const name = names[at];
      const value = (most) => (attribute(element, name) ?? '').slice(0, most).toWellFormed();
      if (name === 'id') entry.id = value(200);
      else if (name === 'class') entry.class = value(300);
      else if (name.length <= 60 && !UNSEEN.has(name) && !name.startsWith('on')) {
        others ??= {};
        others[name] = value(100);
        kept += 1;
      }
    }
    if (others !== undefined) entry.attributes = others;
  };
  const addText = (node, parent) => {
    const text = textOf(node).slice(0, 20000).replace(/\\s+/g, ' ').trim();
    if (text === '') return;
    entries.push({ parent, text: text.slice(0, ${MAX_SHORT_CHARACTERS}).toWellFormed(), length: text.length, hash: hashOf(text) });
  };
  const ownText = (element) => {
    for (let node = firstOf(element); node !== null; node = nextOf(node)) if (typeOf(node) === 3 && textOf(node).trim() !== '') return true;
    return false;
  };
  const BARE = new Set(['head', 'script', 'style', 'template', 'noscript', 'link', 'meta', 'title', 'base', 'source', 'track', 'param']);
  const DRAWN = new Set(['svg', 'math', 'select', 'textarea', 'object', 'embed', 'audio', 'video', 'canvas']);
  const visit = (element, around) => {
    const name = nameOf(element);
    const entry = { parent: around.at, tag: name.slice(0, 100) };
    const at = entries.push(entry) - 1;
    attributesIn(element, entry);
    if (BARE.has(name)) return;
    const rect = boxOf(element);
    const hasBox = rect.width > 0 && rect.height > 0;
    const style = (around.view ?? window).getComputedStyle(element);
    if (!hasBox && style.display === 'none') return;
    const place = { left: rect.left + around.dx, top: rect.top + around.dy, right: rect.right + around.dx, bottom: rect.bottom + around.dy };
    const { clip } = around;
    const seen = clip === null ? place : { left: Math.max(place.left, clip.left), top: Math.max(place.top, clip.top), right: Math.min(place.right, clip.right), bottom: Math.min(place.bottom, clip.bottom) };
    const box = hasBox && seen.left < seen.right && seen.top < seen.bottom ? toImage(seen) : undefined;
    const isRoot = name === 'html' || name === 'body';
    if (hasBox && box === undefined && !isRoot) return;
    const isShown = box !== undefined && style.visibility === 'visible';
    if (box !== undefined) entry.box = box;
    const hasText = isShown && ownText(element);
    if (isShown) {
      entry.style = styleOf(style, hasText);
      if (name === 'img') entry.image = short(sourceOf.call(element), 120);
    }
    if (DRAWN.has(name)) return;
    const clips = !isRoot && hasBox && style.overflow !== 'visible';
    if (around.depth >= ${MAX_DEPTH}) {
      partial = true;
      return;
    }
    const inner = { ...around, at, depth: around.depth + 1, clip: clips ? seen : style.position === 'fixed' ? null : clip };
    if (name === 'iframe') {
      const content = framed(element);
      const root = content === null ? null : rootElementOf(content);
      if (root !== null && box !== undefined) {
        const [dx, dy] = [place.left + element.clientLeft, place.top + element.clientTop];
        visit(root, { at, depth: around.depth + 1, dx, dy, clip: seen, view: content.defaultView });
      }
      return;
    }
    const shadow = shadowOf(element);
    for (const tree of shadow === null ? [element] : [shadow, element]) {
      for (let node = firstOf(tree); node !== null; node = nextOf(node)) {
        if (partial || entries.length >= ${MAX_ENTRIES} || (entries.length % 32 === 0 && performance.now() > endsAt)) {
          partial = true;
          return;
        }
        const type = typeOf(node);
        if (type === 1) visit(node, inner);
        else if (type === 3 && hasText && tree === element) addText(node, at);
      }
    }
  };
  const root = rootElementOf(document);
  if (root !== null) visit(root, { at: -1, depth: 0, dx: 0, dy: 0, clip: null, view: undefined });
  // Entries come after those that they refer to, so the beginning of a map that is too large is itself a valid map.
  let [parts, size] = [[], JSON.stringify(styles).length + 100];
  for (const entry of entries) {
    const part = JSON.stringify(entry);
    size += part.length + 1;
    if (size > ${MAX_MAP_CHARACTERS}) {
      partial = true;
      break;
    }
    parts.push(part);
  }
  return '{"styles":' + JSON.stringify(styles) + ',"entries":[' + parts.join() + '],"partial":' + partial + '}';
}`;
