import { NODES } from './nodes.ts';

/*
 * Finds the text that a page has painted, and where. Everything here runs in the page, in an isolated world. The page's
 * elements can hide members of a form or of the document behind elements of the same name, so members are read from
 * prototypes.
 */

/** Bounds of a search for painted text. */
export interface PaintedLimits {
  /** Maximum number of nodes, of characters of painted text, and of characters of text that is not painted. */
  readonly nodes: number;
  readonly characters: number;
  readonly hidden: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
}

/**
 * Names why an element hides all of its text, by its own style: `''` when it does not. `opacity` is that of the
 * elements around it.
 */
const HIDES = `(style, box, opacity) => {
  if (style.display === 'none') return 'display';
  if (style.contentVisibility === 'hidden') return 'content-visibility';
  if (opacity * Number(style.opacity) < 0.05) return 'opacity';
  if (/\\bopacity\\((?:0|0?\\.0[0-4]\\d*|[0-4]?(?:\\.\\d+)?%)\\)/.test(style.filter)) return 'filter';
  const cut = style.clip.match(/^rect\\((.*)\\)$/);
  if (cut !== null && /absolute|fixed/.test(style.position)) {
    const [top, right, bottom, left] = cut[1].split(/[ ,]+/).map((side) => parseFloat(side));
    if (bottom - top <= 1 || right - left <= 1) return 'clip';
  }
  const shape = style.clipPath;
  if (shape.startsWith('none')) return '';
  const { width, height } = box();
  const inset = shape.match(/^inset\\((.*?)(?: round .*)?\\)/);
  if (inset !== null) {
    const [top, right = top, bottom = top, left = right] = inset[1].split(' ');
    const length = (side, whole) => (side.endsWith('%') ? (parseFloat(side) / 100) * whole : parseFloat(side));
    if (length(top, height) + length(bottom, height) >= height - 1) return 'clip-path';
    if (length(left, width) + length(right, width) >= width - 1) return 'clip-path';
  }
  if (/^(?:circle|ellipse)\\(0(?:px|%)?(?: |\\))/.test(shape)) return 'clip-path';
  const polygon = shape.match(/^polygon\\((?:\\w+, )?(.*)\\)/);
  if (polygon !== null) {
    const points = polygon[1].split(', ').map((point) => point.split(' ').map((side) => parseFloat(side)));
    const span = (at) => Math.max(...points.map((point) => point[at])) - Math.min(...points.map((point) => point[at]));
    if (!(span(0) > 1 && span(1) > 1)) return 'clip-path';
  }
  return '';
}`;

/** Names why the style of its parent hides a text; `''` when it does not. */
const HIDES_TEXT = `(style) => {
  const alphaOf = (colour) => {
    const alpha = colour.match(/[,/] *([\\d.]+%?)\\)$/);
    return colour === 'transparent' ? 0
      : /^rgb\\(|^color\\((?!.*\\/)/.test(colour) || alpha === null ? 1
      : alpha[1].endsWith('%') ? parseFloat(alpha[1]) / 100 : Number(alpha[1]);
  };
  if (style.visibility !== 'visible') return 'visibility';
  if (parseFloat(style.fontSize) < 2) return 'font-size';
  if (style.webkitTextSecurity !== 'none') return 'text-security';
  const isDrawn = alphaOf(style.webkitTextFillColor) >= 0.05;
  const isOutlined = parseFloat(style.webkitTextStrokeWidth) > 0 && alphaOf(style.webkitTextStrokeColor) >= 0.05;
  const isShadowed = style.textShadow !== 'none' && !/^(?:transparent|rgba\\([^)]*, 0\\)) /.test(style.textShadow);
  const isBackground = style.backgroundClip === 'text' && (style.backgroundImage !== 'none' || alphaOf(style.backgroundColor) >= 0.05);
  return isDrawn || isOutlined || isShadowed || isBackground ? '' : 'transparent';
}`;

/**
 * Takes out of a text the characters that nobody sees and that can carry a message: tags, zero-width characters,
 * supplementary variation selectors. Returns the rest, and what was taken out.
 */
const VISIBLE_CHARACTERS = `(text) => {
  if (!/[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\udb40]/.test(text)) return { seen: text, unseen: [] };
  const unseen = [];
  const take = (technique, decode) => (run) => {
    unseen.push({ technique, text: decode(run) });
    return '';
  };
  const plain = (run) => [...run].map((each) => 'U+' + each.codePointAt(0).toString(16).toUpperCase()).join(' ');
  const ascii = (run) => [...run].map((each) => String.fromCharCode(each.codePointAt(0) & 0x7f)).join('');
  const seen = text
    // Flags of regions (England, Scotland) are a flag followed by tags, which are part of the picture.
    .replace(/(\\u{1f3f4}[\\u{e0030}-\\u{e007a}]{1,6}\\u{e007f})|[\\u{e0000}-\\u{e007f}]+/gu, (run, flag) => flag ?? take('tags', ascii)(run))
    .replace(/[\\u{e0100}-\\u{e01ef}]{2,}|[\\ufe00-\\ufe0f]{2,}/gu, take('variation-selectors', plain))
    .replace(/[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u2060-\\u2064\\u206a-\\u206f\\u3164\\ufeff\\uffa0]+|[\\u200b-\\u200f]{2,}/gu, take('zero-width', plain));
  return { seen, unseen };
}`;

/**
 * Returns the reason why a text is not painted although its styles show it; `''`: it is painted; null: unknown. Scrolls
 * the text into the window, and asks the browser what lies at points of it. The caller restores the scroll position
 * before any script of the page can run.
 */
const COVERED = `(nodes, styleOf, floating) => {
  const { documentOf, windowOf, rootOf, boxOf, nameOf, parentOf, typeOf } = nodes;
  const clear = /^(?:transparent|rgba\\(.*, 0(?:\\.\\d+)?\\))$/;
  const numbers = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const opacities = new WeakMap();
  const opacityOf = (element) => {
    let product = 1;
    for (let each = element; each !== null && product >= 0.95 && typeOf(each) === 1; each = nodes.composedParent(each)) {
      if (!opacities.has(each)) opacities.set(each, Number(styleOf(each).opacity));
      product *= opacities.get(each);
    }
    return product;
  };
  const isOpaque = (element) => {
    const style = styleOf(element);
    if (style.mixBlendMode !== 'normal' || style.maskImage !== 'none') return false;
    const name = nameOf(element);
    const isFilled = !clear.test(style.backgroundColor) && (numbers(style.backgroundColor)[3] ?? 1) >= 0.95 && style.backgroundClip !== 'text';
    return (isFilled || /^(?:img|video|canvas|iframe|embed|object)$/.test(name)) && opacityOf(element) >= 0.95;
  };
  const stackAt = (root, x, y) => (typeOf(root) === 9 ? Document : ShadowRoot).prototype.elementsFromPoint.call(root, x, y);
  /** Whether the colour of the text is that of what lies below it. */
  const isSameColour = (style, below) => {
    if (style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0) return false;
    for (const each of below) {
      const { backgroundColor, backgroundImage, backgroundClip } = styleOf(each);
      if (backgroundClip === 'text' || backgroundImage !== 'none' || /^(?:img|video|canvas)$/.test(nameOf(each))) {
        const stops = backgroundImage.match(/rgba?\\([^)]*\\)/g);
        if (backgroundClip === 'text' || stops === null || !/gradient\\(/.test(backgroundImage) || /url\\(/.test(backgroundImage)) return false;
        return stops.every((stop) => isNear(style.webkitTextFillColor, stop));
      }
      if (!clear.test(backgroundColor) && (numbers(backgroundColor)[3] ?? 1) >= 0.95) {
        return isNear(style.webkitTextFillColor, backgroundColor);
      }
      if (!clear.test(backgroundColor)) return false;
    }
    return isNear(style.webkitTextFillColor, 'rgb(255, 255, 255)');
  };
  const isNear = (one, other) => {
    const [a, b] = [numbers(one), numbers(other)];
    return a.length >= 3 && b.length >= 3 && [0, 1, 2].every((at) => Math.abs(a[at] - b[at]) <= 6);
  };
  const look = (run, isToCentre) => {
    const { parent, range } = run;
    const doc = documentOf(parent);
    const view = windowOf(doc);
    const root = rootOf(parent);
    let rects = [...range().getClientRects()].filter(({ width, height }) => width >= 1 && height >= 1);
    if (rects.length === 0) return 'size';
    const centre = (rect) => [rect.left + rect.width / 2, rect.top + rect.height / 2];
    const isIn = ([x, y]) => x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
    const isComfortable = ([x, y]) => isIn([x, y]) && y > view.innerHeight * 0.2 && y < view.innerHeight * 0.8;
    const isAt = centre(rects[0]);
    // Each scrolling costs the browser more than many looks. What is near the edge may lie under a sticky header.
    if (!run.fixed && !(isToCentre ? isComfortable(isAt) : isIn(isAt))) {
      const [x, y] = isAt;
      const left = x >= 0 && x < view.innerWidth ? view.scrollX : view.scrollX + x - view.innerWidth / 2;
      view.scrollTo({ left, top: view.scrollY + y - view.innerHeight * (isToCentre ? 0.5 : 0.2), behavior: 'instant' });
      rects = [...range().getClientRects()].filter(({ width, height }) => width >= 1 && height >= 1);
      if (rects.length === 0) return 'size';
    }
    if (run.scroller !== null && !nodes.meets(rects[0], boxOf(run.scroller))) return null;
    const points = [rects[0], rects[rects.length >> 1], rects.at(-1)]
      .flatMap((rect) => [0.5, 0.1, 0.9].map((share) => [rect.left + rect.width * share, rect.top + rect.height / 2]));
    const seen = points.filter(isIn);
    if (seen.length === 0) return run.frame === null ? 'off-screen' : null;
    let [why, checked] = ['', new Set()];
    for (const [x, y] of seen) {
      const key = Math.round(x) + ' ' + Math.round(y);
      if (checked.has(key)) continue;
      checked.add(key);
      const stack = stackAt(root, x, y);
      const own = stack.indexOf(run.boxed);
      if (own === -1) {
        if (styleOf(run.boxed).pointerEvents === 'none') return null;
        why ||= 'clipped';
        continue;
      }
      if (stack.slice(0, own).some((above) => !nodes.holds(above, run.boxed) && isOpaque(above))) {
        why ||= 'covered';
        continue;
      }
      if (run.isFrame || !isSameColour(styleOf(parent), stack.slice(own))) return '';
      why ||= 'colour';
    }
    return why;
  };
  const sizes = new WeakMap();
  const sizeOf = (doc) => {
    if (!sizes.has(doc)) {
      const root = nodes.rootElementOf(doc);
      sizes.set(doc, { width: root.scrollWidth, height: root.scrollHeight });
    }
    return sizes.get(doc);
  };
  const isWithin = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  /**
   * Whether nothing can cover, clip or move away a text, so that its colour and that of the elements around it decide.
   * Saves looks at points, whose cost grows with the longest list of children.
   */
  const isPlain = ({ fixed, isRisky, clips, boxed, range }) => {
    if (fixed || isRisky) return false;
    const doc = documentOf(boxed);
    const view = windowOf(doc);
    const { width, height } = sizeOf(doc);
    const rect = range().getBoundingClientRect();
    if (rect.width < 1 || rect.height < 1) return false;
    const whole = { left: -view.scrollX, top: -view.scrollY, right: width - view.scrollX, bottom: height - view.scrollY };
    if (!isWithin(rect, whole) || !clips.every((each) => isWithin(rect, boxOf(each)))) return false;
    return floating.every((each) => documentOf(each) !== doc || !nodes.meets(rect, boxOf(each)) || nodes.holds(each, boxed));
  };
  return (run) => {
    if (!run.isFrame && isPlain(run)) return isSameColour(styleOf(run.parent), nodes.ancestors(run.parent)) ? 'colour' : '';
    const why = look(run, false);
    return why === '' || why === null || why === 'size' ? why : look(run, true);
  };
}`;

/** Runs in the page. Returns the smallest box around these; null when there is none. */
export const AROUND = `(boxes) => {
  if (boxes.length === 0) return null;
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}`;

/**
 * Runs in the page, with `PaintedLimits`. Returns the painted text in reading order, through open shadow roots and
 * frames of the same origin, and the text that is not painted:
 *
 * - `items`: texts `{ node, parent, text, isPre, mark, box }`, gaps `{ gap }` between them (`'\n\n'`, `'\n'` or a tab),
 *   and elements `{ element, mark, box }` for which `markOf(element, localName, outerMark)` returns something. `box()`
 *   returns the rectangle in CSS pixels of the window; null when a scrolling element hides it. The mark of a text is
 *   that of the innermost marked element around it, or null. A painted frame of another origin is `{ outside }`.
 * - `hidden`: `{ technique, text, node }`; `unseen`: how many such texts there are
 * - `partial`: whether a limit ended the search; `nodes`: what reads members of nodes.
 */
export const PAINTED = `((limits, markOf = () => undefined) => {
  const startedAt = performance.now();
  // Finding texts and looking at them share the time.
  const [foundBy, endsAt] = [startedAt + limits.ms * 0.4, startedAt + limits.ms];
  const nodes = ${NODES};
  const { typeOf, parentOf, firstOf, nextOf, documentOf, textOf, nameOf, shadowOf, hostOf, rootElementOf, windowOf } = nodes;
  const { framed, templated, assigned, slotOf, textSlotOf, attribute, boxOf, rectsOf } = nodes;
  const hides = ${HIDES};
  const hidesText = ${HIDES_TEXT};
  const visibleCharacters = ${VISIBLE_CHARACTERS};
  nodes.composedParent = (node) => {
    const slot = typeOf(node) === 1 ? slotOf(node) : typeOf(node) === 3 ? textSlotOf(node) : null;
    const parent = slot ?? parentOf(node);
    return parent !== null && typeOf(parent) === 11 ? hostOf(parent) : parent;
  };
  /** An element and the elements around it. */
  nodes.ancestors = (element) => {
    const all = [];
    for (let each = element; each !== null && typeOf(each) === 1; each = nodes.composedParent(each)) all.push(each);
    return all;
  };
  nodes.holds = (outer, inner) => {
    for (let each = inner; each !== null; each = nodes.composedParent(each)) if (each === outer) return true;
    return false;
  };
  nodes.meets = (one, other) => one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
  const styles = new WeakMap();
  const styleOf = (element) => {
    const known = styles.get(element);
    if (known !== undefined) return known;
    const style = getComputedStyle(element);
    styles.set(element, style);
    return style;
  };

  const UNREAD = /^(?:script|style|template|head|title|textarea|select|option|datalist|audio|video|canvas|object|embed|desc|metadata|annotation|annotation-xml)$/;
  const SPACED = /^(?:p|h[1-6]|ul|ol|dl|table|pre|blockquote|section|article|header|footer|nav|aside|main|figure|form|details|fieldset)$/;
  const items = [];
  const hidden = [];
  const roots = [];
  /** Elements that may lie over or under text that they do not contain. */
  const floating = [];
  let [read, shown, told, unseen, partial, isAnyUntouchable] = [0, 0, 0, 0, false, false];

  const tell = (technique, node, text) => {
    const words = text.replace(/\\s+/g, ' ').trim();
    if (words === '') return;
    unseen += 1;
    if (told >= limits.hidden) return;
    const kept = words.slice(0, limits.hidden - told);
    told += kept.length;
    hidden.push({ technique, text: kept, node });
  };
  const gap = (wanted) => {
    const last = items.at(-1);
    if (last === undefined || wanted === '') return;
    if (last.gap === undefined) items.push({ gap: wanted });
    else if (wanted.length > last.gap.length || last.gap === '\\t') last.gap = wanted;
  };
  const gapAround = (name, display) => {
    if (/^inline|^contents$|^ruby/.test(display)) return '';
    if (display === 'table-cell') return '\\t';
    return SPACED.test(name) ? '\\n\\n' : '\\n';
  };

  /** Adds an element that the caller marked. It is painted when it can be seen, whatever its colours. */
  const addElement = (element, mark, around) => {
    const range = () => ({ getClientRects: () => rectsOf(element) });
    items.push({ element, mark, parent: element, boxed: around.boxed, range, box: boxIn(around, range), fixed: around.fixed, scroller: around.scroller, frame: around.frame, isFrame: true });
  };
  /** Adds a frame whose document cannot be read from here. */
  const addOutside = (element, around) => {
    addElement(element, null, around);
    items.at(-1).outside = element;
    delete items.at(-1).element;
  };
  const boxIn = (around, range) => () => {
    const rects = [...range().getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
    const [left, top] = [Math.min(...rects.map((rect) => rect.left)), Math.min(...rects.map((rect) => rect.top))];
    const [right, bottom] = [Math.max(...rects.map((rect) => rect.right)), Math.max(...rects.map((rect) => rect.bottom))];
    const [dx, dy] = around.offset();
    const view = windowOf(documentOf(around.element));
    if (around.frame !== null && (left >= view.innerWidth || top >= view.innerHeight || right <= 0 || bottom <= 0)) return null;
    return rects.length === 0 ? null : { x: left + dx, y: top + dy, width: right - left, height: bottom - top };
  };

  const addText = (node, around) => {
    const data = textOf(node);
    if (data.length === 0) return;
    const isBlank = data.length < 1000 && /^[ \\t\\r\\n\\f]*$/.test(data);
    if (isBlank) {
      if (around.isPre || items.at(-1)?.gap === undefined) items.push({ node, mark: around.mark, parent: around.element, text: around.isPre ? data : ' ', isPre: around.isPre, isBlank, box: () => null });
      return;
    }
    if (around.why !== '') return tell(around.why, node, data);
    const why = hidesText(styleOf(around.element));
    if (why !== '') return tell(why, node, data);
    const { seen, unseen } = visibleCharacters(data.length > limits.characters ? data.slice(0, limits.characters) : data);
    for (const each of unseen) tell(each.technique, node, each.text);
    const text = around.isPre ? seen : seen.replace(/[ \\t\\r\\n\\f]+/g, ' ');
    if (text.length > limits.characters - shown) partial = true;
    const kept = text.slice(0, limits.characters - shown);
    shown += kept.length;
    if (kept === '') return;
    const range = () => {
      const made = documentOf(node).createRange();
      made.selectNodeContents(node);
      if (data.length > 20000) made.setEnd(node, 20000);
      return made;
    };
    items.push({ node, mark: around.mark, parent: around.element, boxed: around.boxed, text: kept, isPre: around.isPre, range, box: boxIn(around, range), fixed: around.fixed, scroller: around.scroller, frame: around.frame, isRisky: around.isRisky, clips: around.clips });
  };

  /** Whether a click on a tab, or on a control that declares it, would show the element. */
  const expandable = new Map();
  const isCollapsed = (element) => {
    if (attribute(element, 'hidden') === 'until-found' || attribute(element, 'role') === 'tabpanel') return true;
    const tree = nodes.rootOf(element);
    if (!expandable.has(tree)) {
      const { querySelectorAll } = (typeOf(tree) === 9 ? Document : DocumentFragment).prototype;
      const controls = [...querySelectorAll.call(tree, '[aria-expanded="false"][aria-controls]')];
      expandable.set(tree, new Set(controls.flatMap((each) => attribute(each, 'aria-controls').split(' '))));
    }
    return expandable.get(tree).has(attribute(element, 'id'));
  };

  /** Tells what only assistive technology, a pointer or nobody is told. */
  const tellAttributes = (element) => {
    for (const name of ['aria-label', 'aria-description', 'alt', 'title', 'placeholder']) {
      const value = attribute(element, name);
      if (value !== null) tell(name, element, value);
    }
  };
  const tellUnread = (element, name) => {
    if (limits.hidden === 0) return;
    if (name === 'template') tell(name, element, textOf(templated(element)));
    // Data in scripts is not for people; scripts themselves are not told.
    if (name === 'script' && !/^(?:|module|importmap|speculationrules|text\\/javascript|application\\/javascript)$/i.test(attribute(element, 'type') ?? '')) tell('script', element, textOf(element));
  };

  const childrenOf = (element, name) => {
    const shadow = shadowOf(element);
    if (shadow !== null) {
      roots.push(shadow);
      for (let light = firstOf(element); light !== null && limits.hidden > 0; light = nextOf(light))
        if (typeOf(light) === 1 ? slotOf(light) === null : typeOf(light) === 3 && textSlotOf(light) === null) tell('slot', light, textOf(light).slice(0, 10000));
      return { first: firstOf(shadow), list: null };
    }
    const list = name === 'slot' ? assigned(element) : [];
    return list.length > 0 ? { first: null, list } : { first: firstOf(element), list: null };
  };

  const enter = (element, around) => {
    const name = nameOf(element);
    if (name === 'br') gap('\\n');
    if (limits.hidden > 0) tellAttributes(element);
    if (name === 'noscript') {
      tell('noscript', element, textOf(element));
      return null;
    }
    if (UNREAD.test(name)) {
      tellUnread(element, name);
      return null;
    }
    const style = styleOf(element);
    const { display, position } = style;
    if (style.pointerEvents === 'none') isAnyUntouchable = true;
    const isClosed = around.isClosedDetails && !(name === 'summary' && around.summary.first);
    if (around.isClosedDetails && name === 'summary') around.summary.first = false;
    const box = () => boxOf(element);
    const why = around.why !== '' ? around.why : isClosed ? 'details' : hides(style, box, around.opacity);
    if (why === 'display') {
      tell(isCollapsed(element) ? 'collapsed' : why, element, textOf((name === 'iframe' && framed(element) !== null && rootElementOf(framed(element))) || element).slice(0, 10000));
      return null;
    }
    const fixed = around.fixed || position === 'fixed';
    const isRoot = name === 'body' || element === rootElementOf(documentOf(element));
    const scrolls = !isRoot && /auto|scroll/.test(style.overflowX + style.overflowY);
    const next = {
      element,
      boxed: display === 'contents' ? around.boxed : element,
      why,
      opacity: around.opacity * Number(style.opacity),
      isPre: /^(?:pre|break-spaces)/.test(style.whiteSpace),
      isClosedDetails: name === 'details' && attribute(element, 'open') === null,
      summary: { first: true },
      fixed,
      scroller: position === 'fixed' ? null : scrolls ? element : around.scroller,
      frame: around.frame,
      isGrid: /grid/.test(display),
      isRisky: around.isRisky || style.clipPath !== 'none' || style.maskImage !== 'none' || style.backfaceVisibility === 'hidden' || style.clip !== 'auto',
      clips: style.overflowX === 'visible' && style.overflowY === 'visible' ? around.clips : isRoot ? around.clips : [...around.clips, element],
      mark: around.mark,
      offset: around.offset,
      gap: gapAround(name, display),
    };
    gap(next.gap);
    const isDrawn = style.backgroundColor !== 'rgba(0, 0, 0, 0)' || style.backgroundImage !== 'none' || /^(?:img|video|canvas|iframe|embed|object|svg)$/.test(name);
    const isMoved = position !== 'static' || style.float !== 'none' || style.transform !== 'none' || style.translate !== 'none' || style.rotate !== 'none' || style.scale !== 'none';
    const isOverlapping = isMoved || around.isGrid || /^-/.test(style.marginTop) || /^-/.test(style.marginBottom) || /^-/.test(style.marginLeft) || /^-/.test(style.marginRight);
    if (why === '' && isDrawn && isOverlapping) floating.push(element);
    const mark = why === '' && style.visibility === 'visible' ? markOf(element, name, around.mark) : undefined;
    if (mark !== undefined) {
      next.mark = mark;
      addElement(element, mark, next);
    }
    if (name === 'iframe' || name === 'frame') {
      const inner = name === 'iframe' ? framed(element) : null;
      const root = inner === null ? null : rootElementOf(inner);
      const unseenFrame = why !== '' ? why : styleOf(element).visibility !== 'visible' ? 'visibility' : '';
      if (root !== null && unseenFrame !== '') tell(unseenFrame, element, textOf(root).slice(0, 10000));
      if (root === null && unseenFrame === '') addOutside(element, { ...next, scroller: around.scroller });
      if (root === null || unseenFrame !== '') return null;
      roots.push(inner);
      const offset = () => {
        const [dx, dy] = around.offset();
        const { left, top } = boxOf(element);
        return [dx + left + element.clientLeft, dy + top + element.clientTop];
      };
      return { ...next, first: root, list: null, offset, fixed: false, scroller: null, isGrid: false, isRisky: false, clips: [],
        frame: { parent: element, boxed: element, range: () => ({ getClientRects: () => [boxOf(element)] }), fixed, scroller: around.scroller, frame: around.frame, isFrame: true } };
    }
    return { ...next, ...childrenOf(element, name) };
  };

  const root = rootElementOf(document);
  roots.push(document);
  const outermost = { element: null, boxed: null, why: '', opacity: 1, isPre: false, isClosedDetails: false, summary: { first: true }, fixed: false, scroller: null, frame: null, mark: null, isGrid: false, isRisky: false, clips: [], offset: () => [0, 0], gap: '' };
  const stack = root === null ? [] : [{ ...outermost, first: null, list: [root], at: 0 }];
  while (stack.length > 0 && !partial) {
    const top = stack.at(-1);
    const node = top.list === null ? top.first : (top.list[top.at] ?? null);
    if (node === null) {
      gap(top.gap);
      stack.pop();
      continue;
    }
    if (top.list === null) top.first = nextOf(node);
    else top.at += 1;
    read += 1;
    if (read > limits.nodes || (read % 64 === 0 && performance.now() > foundBy)) partial = true;
    const type = typeOf(node);
    if (type === 3 && top.element !== null) addText(node, top.isClosedDetails ? { ...top, why: top.why || 'details' } : top);
    else if (type === 8) tell('comment', node, textOf(node).slice(0, 10000));
    else if (type === 1) {
      const next = enter(node, top);
      if (next !== null) stack.push({ ...next, at: 0 });
    }
  }

  const sheets = isAnyUntouchable ? roots.map(touchable) : [];
  function touchable(root) {
    const doc = typeOf(root) === 9 ? root : documentOf(root);
    try {
      const sheet = new (windowOf(doc).CSSStyleSheet)();
      sheet.replaceSync('* { pointer-events: auto !important }');
      const before = root.adoptedStyleSheets;
      root.adoptedStyleSheets = [...before, sheet];
      return () => (root.adoptedStyleSheets = before);
    } catch {
      return () => {};
    }
  }
  const why = (${COVERED})(nodes, styleOf, floating);
  const views = new Set(roots.map((each) => windowOf(typeOf(each) === 9 ? each : documentOf(each))).filter((view) => view !== null));
  const places = [...views].map((view) => [view, view.scrollX, view.scrollY]);
  const frames = new Map();
  function whyFrame(frame) {
    if (frame === null) return '';
    if (!frames.has(frame)) frames.set(frame, whyFrame(frame.frame) || why(frame) || '');
    return frames.get(frame);
  }
  const painted = [];
  let isFirst = true;
  for (const item of items) {
    if (item.gap !== undefined || item.isBlank) {
      painted.push(item);
      continue;
    }
    // Finding texts may take all of the time, and some words are better than none.
    if (!isFirst && performance.now() > endsAt) {
      partial = true;
      break;
    }
    isFirst = false;
    const technique = whyFrame(item.frame) || why(item);
    if (technique === '' || technique === null) painted.push(technique === null ? { ...item, box: () => null } : item);
    else if (item.node !== undefined) tell(technique, item.node, item.text);
  }
  for (const [view, left, top] of places) view.scrollTo({ left, top, behavior: 'instant' });
  for (const restore of sheets) restore();
  return { items: painted, hidden, unseen, partial, nodes };
})`;
