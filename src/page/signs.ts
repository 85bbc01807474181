import { z } from 'zod';

/** Maximum number of text nodes that are looked at. */
const MAX_TEXTS = 1_000;
/** Characters of visible text after which a page is not read further: with so many, only an overlay is a wall. */
const MAX_CHARACTERS = 1_600;
/** This limit for a page that says that it is not free: its paywall may follow the beginning of an article. */
const MAX_PAID_CHARACTERS = 6_000;
/** A page with fewer characters is searched for skeletons and spinners. */
const MESSAGE_CHARACTERS = 1_500;
/** A page with fewer characters is examined for text in the colour of its background. */
const FEW_CHARACTERS = 500;
const MAX_HEADING_CHARACTERS = 300;
const MAX_NAMES_CHARACTERS = 4_000;
const MAX_URL_CHARACTERS = 1_000;
/** Maximum number of elements of one kind that are looked at. */
const MAX_ELEMENTS = 60;
/** Points in each direction at which the window is examined for overlays. */
const POINTS = 3;
/** Share of the window from which on overlays may be a wall. */
export const WALL_SHARE = 0.5;

/** Content that a page shows, as far as a verdict needs it. Texts are the page's own and are never passed on. */
export const signsSchema = z.object({
  /** The text that is seen, from the top, with single spaces. */
  text: z.string(),
  headings: z.string(),
  /** Number of images, drawings, videos and backgrounds that are seen. */
  graphics: z.number(),
  /** Shares of the window, 0 to 1. */
  overlaid: z.number(),
  skeletons: z.number(),
  /** Elements over the content: their text, their ids and classes, and the URLs of frames in them. */
  overlay: z.object({ text: z.string(), names: z.string(), frames: z.array(z.string()), password: z.boolean() }),
  /** Characters of the text that are outside overlays. */
  behind: z.number(),
  /** URLs of frames that are seen, and of scripts. */
  frames: z.array(z.string()),
  scripts: z.array(z.string()),
  /** Ids and classes that are seen and that products of walls, gates, parked domains and loading pages use. */
  names: z.string(),
  spinners: z.number(),
  fields: z.number(),
  password: z.boolean(),
  links: z.number(),
  /** The page says in structured data that it is not free. */
  isPaid: z.boolean(),
});

export type Signs = z.output<typeof signsSchema>;

const SKELETONS =
  '[class*="skeleton" i], [class*="shimmer" i], [class*="placeholder-glow"], [class*="placeholder-wave"], [class*="animate-pulse"], [class*="ghost-" i], [class*="content-loader" i], [class*="placeholder" i]:empty';
const SPINNERS =
  '[role="progressbar"], [aria-busy="true"], progress, [class*="spinner" i], [class*="loader" i], [class*="loading" i], [class*="lds-"], [class*="progress" i]';

/**
 * JavaScript of a function that runs in the page, in an isolated world. It reads what a verdict is based on, and
 * nothing in a document whose elements have names that replace functions of the browser. What it looks at is bounded,
 * so that it takes no longer in a large page than in a small one.
 */
export const SIGNS = `(() => {
  try {
    const from = (prototype, name) => Reflect.get(prototype, name, document);
    const root = from(Document.prototype, 'documentElement');
    const body = from(Document.prototype, 'body') ?? root;
    if (!root) return null;
    const find = (selector) => Array.from(Document.prototype.querySelectorAll.call(document, selector)).slice(0, ${MAX_ELEMENTS});
    const box = (element) => Element.prototype.getBoundingClientRect.call(element);
    const getter = (prototype, name) => {
      const { get } = Object.getOwnPropertyDescriptor(prototype, name);
      return (object) => get.call(object);
    };
    const shadow = getter(Element.prototype, 'shadowRoot');
    const parentOf = getter(Node.prototype, 'parentNode');
    const above = (node) => {
      const parent = parentOf(node);
      return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
    };
    const shows = (element) => Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true });
    const width = Math.max(innerWidth, root.scrollWidth);
    const isPlaced = ({ left, top, right, bottom }) =>
      right - left > 1 && bottom - top > 1 && right + scrollX > 0 && bottom + scrollY > 0 && left + scrollX < width;
    const isSeen = (element) => shows(element) && isPlaced(box(element));
    const share = (elements) => {
      let area = 0;
      for (const element of elements) {
        const { left, top, right, bottom } = box(element);
        const [across, down] = [Math.min(right, innerWidth) - Math.max(left, 0), Math.min(bottom, innerHeight) - Math.max(top, 0)];
        if (across > 0 && down > 0) area += across * down;
      }
      return Math.min(1, area / (innerWidth * innerHeight));
    };
    const nameOf = (element) => (Element.prototype.getAttribute.call(element, 'id') ?? '') + ' ' + (Element.prototype.getAttribute.call(element, 'class') ?? '');
    const urlOf = (element) => String(element.src ?? '').slice(0, ${MAX_URL_CHARACTERS});

    // The outermost element above the content that is the element or contains it; null when none does.
    const known = new Map([[null, null], [body, null], [root, null]]);
    const rootOfOverlay = (element) => {
      let found = known.get(element);
      if (found === undefined) {
        const { position, zIndex } = getComputedStyle(element);
        const isAbove = position === 'fixed' || (position === 'absolute' && Number(zIndex) >= 10) || element.matches(':modal, :popover-open');
        found = rootOfOverlay(above(element)) ?? (isAbove ? element : null);
        known.set(element, found);
      }
      return found;
    };
    const topAt = (x, y) => {
      let element = Document.prototype.elementFromPoint.call(document, x, y);
      for (let depth = 0; element && shadow(element) && depth < 10; depth += 1) {
        const inner = shadow(element).elementFromPoint(x, y);
        if (!inner || inner === element) break;
        element = inner;
      }
      return element;
    };
    const overlays = new Set();
    let overlaid = 0;
    for (let row = 0; row < ${POINTS}; row += 1) {
      for (let column = 0; column < ${POINTS}; column += 1) {
        const top = topAt((innerWidth * (column + 0.5)) / ${POINTS}, (innerHeight * (row + 0.5)) / ${POINTS});
        const over = top && rootOfOverlay(top);
        if (over) {
          overlaid += 1;
          overlays.add(over);
        }
      }
    }
    const isOver = (element) => {
      for (let each = element; each; each = above(each)) if (overlays.has(each)) return true;
      return false;
    };

    const isLegible = (element) => {
      const colour = getComputedStyle(element).color;
      for (let each = element; each; each = above(each)) {
        const { backgroundColor, backgroundImage } = getComputedStyle(each);
        if (backgroundImage !== 'none') return true;
        if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor !== colour;
      }
      return colour !== 'rgb(255, 255, 255)';
    };
    const data = find('script[type="application/ld+json"]').map((script) => String(script.textContent).slice(0, 20_000));
    const isPaid = data.some((json) => /"isAccessibleForFree"\\s*:\\s*"?false/i.test(json));
    const most = isPaid ? ${MAX_PAID_CHARACTERS} : ${MAX_CHARACTERS};
    const parents = new Map();
    const isSeenParent = (parent) => {
      let seen = parents.get(parent);
      if (seen === undefined) {
        seen = !/^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|TEXTAREA|OPTION)$/.test(parent.tagName) && isSeen(parent);
        parents.set(parent, seen);
      }
      return seen;
    };
    const texts = [];
    let read = 0;
    let total = 0;
    const walk = (tree) => {
      const walker = Document.prototype.createTreeWalker.call(document, tree, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && read < ${MAX_TEXTS} && total < most; node = walker.nextNode()) {
        const { data } = node;
        if (!/[^\\s\\u200B-\\u200D\\uFEFF]/.test(data)) continue;
        const parent = above(node);
        if (!parent) continue;
        read += 1;
        if (!isSeenParent(parent)) continue;
        const text = data.slice(0, 2000).replace(/[\\s\\u200B-\\u200D\\uFEFF]+/g, ' ').trim();
        total += text.length;
        texts.push({ text, parent });
      }
      // Text in shadow trees comes last: where it stands among the other text matters to no rule.
      if (total >= ${MESSAGE_CHARACTERS} || !tree.querySelectorAll) return;
      let hosts = 0;
      for (const element of Element.prototype.isPrototypeOf(tree) ? Element.prototype.querySelectorAll.call(tree, '*') : tree.querySelectorAll('*')) {
        const inner = shadow(element);
        if (inner && (hosts += 1) <= ${MAX_ELEMENTS}) walk(inner);
      }
    };
    for (const over of overlays) walk(over);
    const over = texts.splice(0);
    const isWall = overlaid >= ${WALL_SHARE * POINTS ** 2};
    [read, total] = [0, 0];
    walk(body);
    const outside = overlays.size === 0 ? texts : texts.filter(({ parent }) => !isOver(parent));
    const shown = [...over, ...outside];
    const legible = total < ${FEW_CHARACTERS} ? shown.filter(({ parent }) => isLegible(parent)) : shown;
    const join = (some) => some.map(({ text }) => text).join(' ').slice(0, ${MAX_PAID_CHARACTERS}).toWellFormed();
    const lengthOf = (some) => some.reduce((sum, { text }) => sum + text.length, 0);
    const text = join(legible);
    const isLong = total >= most;
    const isMessage = text.length < ${MESSAGE_CHARACTERS};

    const frames = find('iframe, frame').filter(isSeen);
    const inputs = isLong && !isWall ? [] : find('input:not([type=hidden], [type=submit], [type=button]), textarea').filter(isSeen);
    const isPassword = (input) => input.matches('[type=password]');
    const isPicture = (element) => {
      const { width: across, height: down } = box(element);
      return across >= 8 && down >= 8 && (element.tagName !== 'IMG' || (element.complete && element.naturalWidth > 1));
    };
    const pictures = isMessage ? find('img, svg, canvas, video, object, embed').filter((element) => isSeen(element) && isPicture(element)) : [];
    const hasBackground = (element) => getComputedStyle(element).backgroundImage !== 'none' && isSeen(element);
    const backgrounds = text === '' && pictures.length === 0 ? find('*').filter(hasBackground) : [];
    const bearers = new Set();
    for (const { parent } of isLong ? over : legible) for (let each = parent; each && !bearers.has(each); each = above(each)) bearers.add(each);
    return {
      text,
      headings: isMessage ? join(legible.filter(({ parent }) => parent.closest('h1, h2, [role=heading]'))).slice(0, ${MAX_HEADING_CHARACTERS}) : '',
      graphics: pictures.length + backgrounds.length,
      overlaid: overlaid / ${POINTS ** 2},
      overlay: {
        text: join(over),
        names: [...overlays].map(nameOf).join(' ').slice(0, ${MAX_NAMES_CHARACTERS}).toWellFormed(),
        frames: frames.filter(isOver).map(urlOf),
        password: inputs.some((input) => isPassword(input) && isOver(input)),
      },
      behind: lengthOf(outside),
      frames: frames.map(urlOf),
      scripts: isMessage ? find('script[src]').map(urlOf) : [],
      names: [...bearers].map(nameOf).join(' ').replace(/\\s+/g, ' ').slice(0, ${MAX_NAMES_CHARACTERS}).toWellFormed(),
      skeletons: isMessage ? share(find('${SKELETONS}').filter(isSeen)) : 0,
      spinners: isMessage ? find('${SPINNERS}').filter(isSeen).length : 0,
      fields: inputs.length,
      password: inputs.some(isPassword),
      links: isMessage ? find('a[href]').filter(isSeen).length : 0,
      isPaid,
    };
  } catch {
    return null;
  }
})`;
