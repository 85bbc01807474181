/**
 * Maximum number of text nodes that are read for "Loading...", and of pieces of content that are searched for a visible
 * one.
 */
const MAX_TEXTS = 5_000;
const MAX_HIDDEN_PIECES = 50;
/** Maximum length of the shorter side of a spinner or of a part of a skeleton, in CSS pixels. */
const MAX_SIGN_SIDE = 120;
/** Boxes below this size, in CSS pixels, that blink alone are decoration, such as the dot beside "live". */
const MIN_BLINK_SIDE = 12;
/** Maximum number of characters of a spinner's own text, such as "Loading results...". */
const MAX_SIGN_CHARACTERS = 40;
/** Maximum number of pixels of a canvas that are compared. Larger canvases are scaled down. */
const MAX_SAMPLE_PIXELS = 512 * 512;

/** Names that style sheets give to spinners and skeletons. */
const SIGN_CLASS =
  '/skeleton|spinner|preloader|shimmer|circular-?progress|placeholder-(?:glow|wave)|(?:^|[\\s_-])(?:load(?:er|ing)|lds)(?:[\\s_-]|$)/i';
/** The parts of these names that a selector can find; all are lower case but for their first letter. */
const SIGN_SELECTOR = ['keleton', 'pinner', 'oader', 'oading', 'himmer', 'rogress', 'laceholder-', 'lds-']
  .map((part) => `[class*="${part}"]`)
  .join(',');
const BUSY_SELECTOR = '[aria-busy="true" i], [role="progressbar" i]:not([aria-valuenow]), progress:not([value])';

/** A text that is only this is a promise of more. A sentence must end with an ellipsis, so that prose is none. */
const WAIT_WORD =
  '(?:loading|redirecting|please wait|just a moment|one moment|chargement|patientez|wird geladen|l(?:ä|ae)dt|weiterleitung|cargando|redirigiendo|caricamento|carregando|laden|загрузка|読み込み中|加载中|載入中|로딩 중)';
const WAIT_TEXT = `/^(?:${WAIT_WORD}[.…!\\s]*|(?:you (?:are|will) be(?:ing)? )?(?:${WAIT_WORD}|redirected)[^.…]{0,50}(?:\\.\\.\\.|…))$/i`;

/**
 * Runs in the page. Returns a function that returns whether the page shows that it is not done: finite animations and
 * transitions that end within `leftMs`, canvases drawn to since the last call, spinners, skeletons and "Loading..." in
 * the window, or nothing to see in the window of a page that has scripts.
 */
export const WATCH_WORK = `() => {
  const CONTENT = 'img, svg, canvas, video, iframe, object, embed, input, select, textarea, button';
  const find = (selector) => Document.prototype.querySelectorAll.call(document, selector);
  const boxOf = (element) => Element.prototype.getBoundingClientRect.call(element);
  const textOf = (element) => Reflect.get(Node.prototype, 'textContent', element).trim();
  const holds = (element, selector) => Element.prototype.querySelector.call(element, selector) !== null;
  const within = (element, selector) => Element.prototype.closest.call(element, selector) !== null;
  const isInWindow = ({ left, top, right, bottom }) =>
    right - left > 0 && bottom - top > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  const isVisible = (element) =>
    Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true });
  const isShown = (element) => isInWindow(boxOf(element)) && isVisible(element);

  const isSpinning = (animation) => {
    const { target, pseudoElement } = animation.effect;
    const { width, height } = boxOf(target);
    const [shorter, longer] = width < height ? [width, height] : [height, width];
    if (shorter > ${MAX_SIGN_SIDE} || textOf(target) !== '' || !isInWindow(boxOf(target))) return false;
    if (holds(target, 'img, video, canvas, iframe') || within(target, 'a, button') || target.localName === 'img') return false;
    const isLarge = longer >= 2 * ${MIN_BLINK_SIDE} && shorter >= ${MIN_BLINK_SIDE};
    const text = JSON.stringify(animation.effect.getKeyframes());
    if (/rotate|stroke-?dash/i.test(text)) return isVisible(target);
    return isLarge && (pseudoElement !== null || /"(?:opacity|background)/.test(text));
  };
  const isMoving = (leftMs) =>
    Document.prototype.getAnimations.call(document).some((animation) => {
      const { playState, timeline, effect, playbackRate } = animation;
      // Animations of other timelines follow scrolling.
      if (playState !== 'running' || timeline !== document.timeline || !effect?.target) return false;
      const { endTime } = effect.getComputedTiming();
      if (endTime === Infinity) return isSpinning(animation);
      return playbackRate !== 0 && (endTime - (animation.currentTime ?? 0)) / Math.abs(playbackRate) <= leftMs;
    });

  const isSign = (element) =>
    isShown(element) &&
    textOf(element).length <= ${MAX_SIGN_CHARACTERS} &&
    !within(element, 'a, button, label, input') &&
    !holds(element, 'a, img, video, canvas, iframe, input, select, textarea, button');
  const isNamed = (element) => ${SIGN_CLASS}.test(Element.prototype.getAttribute.call(element, 'class'));
  const showsSign = () =>
    [...find('${BUSY_SELECTOR}')].some(isShown) ||
    [...find('${SIGN_SELECTOR}')].some((element) => isNamed(element) && isSign(element));

  const range = Document.prototype.createRange.call(document);
  const boxOfText = (text) => {
    range.selectNodeContents(text);
    return range.getBoundingClientRect();
  };
  const fillsWindow = ({ left, top, right, bottom }) => left <= 0 && top <= 0 && right >= innerWidth && bottom >= innerHeight;
  const isTransparent = (element) => /^rgba\\(.*, 0(?:\\.[0-4]\\d*)?\\)$/.test(getComputedStyle(element).backgroundColor);
  /** Whether an element without content of its own lies over this piece of content and all of the window. */
  const isCovered = (box, element) => {
    const x = (Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2;
    const y = (Math.max(0, box.top) + Math.min(innerHeight, box.bottom)) / 2;
    const hit = Document.prototype.elementFromPoint.call(document, x, y);
    if (hit === null || Node.prototype.contains.call(hit, element) || Node.prototype.contains.call(element, hit)) return false;
    return fillsWindow(boxOf(hit)) && textOf(hit) === '' && !holds(hit, CONTENT) && !Element.prototype.matches.call(hit, CONTENT) &&
      isVisible(hit) && !isTransparent(hit);
  };
  const isSeen = (box, element) => isInWindow(box) && isVisible(element);
  /** Reads the texts of the page: whether one is "Loading...", and whether there is any content that is not covered. */
  const readTexts = () => {
    const root = Reflect.get(Document.prototype, 'body', document);
    let hidden = 0;
    let shows = root === null;
    if (root === null) return { waits: false, shows, hidden };
    const notice = (box, element) => {
      if (shows || hidden >= ${MAX_HIDDEN_PIECES} || !isSeen(box, element)) return;
      if (isCovered(box, element)) hidden += 1;
      else shows = true;
    };
    const walker = Document.prototype.createTreeWalker.call(document, root, NodeFilter.SHOW_TEXT);
    for (let count = 0; count < ${MAX_TEXTS} && walker.nextNode() !== null; count += 1) {
      const text = walker.currentNode;
      if (text.length > 200 && shows) continue;
      const content = text.data.trim();
      if (content === '') continue;
      const waits = content.length <= 100 && ${WAIT_TEXT}.test(content);
      if (shows && !waits) continue;
      const element = Reflect.get(Node.prototype, 'parentElement', text);
      if (within(element, 'script, style, noscript, template')) continue;
      if (!shows) notice(boxOfText(text), element);
      if (!waits) continue;
      // A heading or an item of a list may well be named "Loading".
      const isName = within(element, 'a, button, nav, code, pre, option') ||
        (!/[.…]$/.test(content) && within(element, 'li, h1, h2, h3, h4, h5, h6'));
      if (!isName && isSeen(boxOfText(text), element)) return { waits: true, shows, hidden };
    }
    if (!shows) for (const element of find(CONTENT)) notice(boxOf(element), element);
    return { waits: false, shows, hidden };
  };
  const isWaiting = () => {
    const { waits, shows, hidden } = readTexts();
    if (waits) return true;
    // A page without scripts shows all that it will ever show.
    if (shows || Reflect.get(Document.prototype, 'scripts', document).length === 0) return false;
    if (hidden > 0) return true;
    // Content in shadow trees and background images are seen only by their paint, boxes of a colour only by their
    // style.
    if (performance.getEntriesByName('first-contentful-paint').length > 0) return false;
    const boxes = [...find('body *')].slice(0, ${MAX_HIDDEN_PIECES});
    return !boxes.some((element) => !fillsWindow(boxOf(element)) && isShown(element) && !isTransparent(element));
  };

  const samples = new WeakMap();
  const sampleOf = (canvas) => {
    const { width, height } = canvas;
    const scale = Math.min(1, Math.sqrt(${MAX_SAMPLE_PIXELS} / Math.max(1, width * height)));
    const size = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
    const context = new OffscreenCanvas(...size).getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'medium';
    context.drawImage(canvas, 0, 0, ...size);
    return new Uint32Array(context.getImageData(0, 0, ...size).data.buffer);
  };
  const isDrawn = (canvas) => {
    if (!isShown(canvas)) return false;
    try {
      const before = samples.get(canvas);
      const now = sampleOf(canvas);
      samples.set(canvas, now);
      return before !== undefined && (before.length !== now.length || before.some((pixel, at) => pixel !== now[at]));
    } catch {
      // A canvas without pixels, or one that holds an image of another origin, cannot be read.
      return false;
    }
  };
  const areDrawn = () => [...find('canvas')].map(isDrawn).includes(true);
  areDrawn();
  return (leftMs) => {
    const drawn = areDrawn();
    return drawn || isMoving(leftMs) || showsSign() || isWaiting();
  };
}`;
