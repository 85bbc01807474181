import { PAINTED } from './painted.ts';

/** Elements whose copies are of the same kind. Others, such as custom elements and forms, become a `div` or `span`. */
const KEPT =
  '/^(?:a|abbr|address|article|aside|b|bdi|bdo|blockquote|caption|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|footer|h[1-6]|header|hgroup|i|ins|kbd|li|main|mark|nav|ol|p|pre|q|ruby|rp|rt|s|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|time|tr|u|ul|var)$/';

/**
 * Attributes that say what an element is for. All others stay behind: many hold words that nobody saw (`alt`, `title`,
 * `aria-label`, `data-*`).
 */
const KEPT_ATTRIBUTES = ['id', 'class', 'role', 'itemprop', 'itemtype', 'colspan', 'rowspan', 'start', 'type'];

/** Depth below which elements are left out and their texts kept: libraries take exponential time for deep documents. */
const MAX_DEPTH = 100;
const MAX_URL_CHARACTERS = 2_048;
/** Images that are smaller in both directions, in CSS pixels, are spacers and counters. */
const MIN_IMAGE_SIZE = 16;

/**
 * Runs in the page, with `PaintedLimits` and, when only a part of the page is wanted, the element of that part: null
 * when it does not exist. Returns the result of `PAINTED`, and
 *
 * - `copy`: a document that has only what was painted, through open shadow roots and frames of the same origin. It
 *   belongs to no window, so it loads and runs nothing; its URLs are absolute, and of schemes that are safe to follow.
 * - `fill`: puts the HTML of a frame of another origin where that frame is
 * - `isMissing`: whether the part is null.
 */
export const PAINTED_COPY = `((limits, part) => {
  const imageOf = (element, name) => (name === 'img' ? element : undefined);
  const found = (${PAINTED})(limits, imageOf);
  const { typeOf, nameOf, attribute, documentOf, windowOf, firstOf, nextOf, composedParent, holds } = found.nodes;
  if (part !== undefined) found.items = found.items.filter(({ gap, parent }) => gap !== undefined || (part !== null && holds(part, parent)));
  const { get: implementationOf } = Object.getOwnPropertyDescriptor(Document.prototype, 'implementation');
  const { get: baseOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'baseURI');
  const { get: sourceOf } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'currentSrc');
  const copy = DOMImplementation.prototype.createHTMLDocument.call(implementationOf.call(document), '');
  const absolute = (written, element, schemes) => {
    const base = baseOf.call(element);
    if (!written || !URL.canParse(written, base)) return null;
    const { href, protocol } = new URL(written, base);
    return schemes.includes(protocol) && href.length <= ${MAX_URL_CHARACTERS} ? href : null;
  };
  const isFrame = (element) => /^i?frame$/.test(nameOf(element));
  const isInline = (element) => !isFrame(element) && /^(?:inline|contents|ruby)/.test(getComputedStyle(element).display);
  const copyOf = (element) => {
    const name = nameOf(element);
    const made = copy.createElement(${KEPT}.test(name) ? name : isInline(element) ? 'span' : 'div');
    for (const each of ${JSON.stringify(KEPT_ATTRIBUTES)}) {
      const value = attribute(element, each);
      if (value !== null && value.length < 1000) made.setAttribute(each, value);
    }
    const href = name === 'a' ? absolute(attribute(element, 'href'), element, ['http:', 'https:', 'mailto:', 'tel:']) : null;
    if (href !== null) made.setAttribute('href', href);
    return made;
  };

  // Some generators write the same structure everywhere, which libraries know.
  const generator = Document.prototype.querySelector.call(document, 'meta[name=generator]');
  const program = generator === null ? '' : attribute(generator, 'content') ?? '';
  if (/^[\\w .+-]{1,60}$/.test(program)) {
    const meta = copy.createElement('meta');
    meta.setAttribute('name', 'generator');
    meta.setAttribute('content', program);
    copy.head.append(meta);
  }

  const places = new Map();
  /** Returns where the content of an element goes; its copy and those of the elements around it are made on demand. */
  const placeOf = (element) => {
    const chain = [];
    let each = element;
    while (each !== null && !places.has(each)) {
      if (typeOf(each) === 1) chain.push(each);
      each = typeOf(each) === 9 ? windowOf(each)?.frameElement ?? null : composedParent(each);
    }
    let place = each === null ? { into: copy.body, depth: 0, block: copy.body } : places.get(each);
    for (const next of chain.toReversed()) {
      if (places.has(next)) {
        place = places.get(next);
        continue;
      }
      const name = nameOf(next);
      const isRoot = name === 'html' || (name === 'body' && documentOf(next) === document);
      if (!isRoot && place.depth < ${MAX_DEPTH}) {
        const into = copyOf(next);
        place.into.append(into);
        place = { into, depth: place.depth + 1, block: isInline(next) ? place.block : into, isPre: place.isPre || name === 'pre' };
        // Cells without text hold the others in their columns.
        if (name === 'tr') {
          for (let cell = firstOf(next); cell !== null; cell = nextOf(cell)) {
            if (typeOf(cell) !== 1 || !/^t[dh]$/.test(nameOf(cell))) continue;
            const made = copyOf(cell);
            into.append(made);
            places.set(cell, { into: made, depth: place.depth + 1, block: made, isPre: place.isPre });
          }
        }
      }
      places.set(next, place);
    }
    return place;
  };

  let [gap, lastBlock] = ['', null];
  for (const item of found.items) {
    if (item.gap !== undefined) {
      gap = item.gap;
      continue;
    }
    if (item.element !== undefined) {
      const box = item.box();
      const source = absolute(sourceOf.call(item.element), item.element, ['http:', 'https:']);
      if (source === null || box === null || (box.width < ${MIN_IMAGE_SIZE} && box.height < ${MIN_IMAGE_SIZE})) continue;
      const image = copy.createElement('img');
      image.setAttribute('src', source);
      // Libraries take images without a size for spacers.
      image.setAttribute('width', String(Math.round(box.width)));
      image.setAttribute('height', String(Math.round(box.height)));
      placeOf(composedParent(item.element)).into.append(image);
      continue;
    }
    if (item.outside !== undefined) {
      placeOf(item.outside);
      continue;
    }
    const { into, block, isPre } = placeOf(item.parent);
    if (gap !== '' && block === lastBlock) into.append(isPre ? '\\n' : copy.createElement('br'));
    else if (gap !== '' && isPre) into.append('\\n');
    [gap, lastBlock] = ['', block];
    into.append(item.text);
  }
  const fill = (element, html) => {
    const { into } = placeOf(element);
    const { body } = DOMParser.prototype.parseFromString.call(new DOMParser(), html, 'text/html');
    into.append(...body.childNodes);
  };
  return { ...found, copy, fill, isMissing: part === null };
})`;
