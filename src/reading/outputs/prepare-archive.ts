/*
 * Chromium writes an archive from the parsed style sheets, which loses declarations, and puts all <style> elements
 * before all linked style sheets. The scripts below find out in the page what is needed to mend that.
 */

const KEPT = `globalThis[Symbol.for('capstan-archive')]`;
const MAX_CANVASES = 50;
const MAX_CANVAS_PIXELS = 4_000_000;
/** Maximum number of characters of the images of all canvases. */
const MAX_CANVAS_CHARACTERS = 8 * 1024 * 1024;
/** Maximum number of characters of the texts of all <style> elements. */
const MAX_STYLE_CHARACTERS = 4 * 1024 * 1024;
const MAX_STYLES = 1_000;

/** Returns the comment that marks where a <style> element was. */
export const styleMark = (at: number | string): string => `<!--capstan-style-${at}-->`;

/**
 * Runs in the page, with linked style sheets `[url, text]` as they were sent. Puts a mark before each <style> element,
 * and the picture of each canvas behind it: an archive has no pixels of canvases. Returns
 *
 * - `styles`: the text of each <style> element, null when a script has changed its rules
 * - `changed`: URLs of the style sheets that a script has changed.
 */
export const PREPARE_ARCHIVE = `(sheets) => {
  const isImport = (rule) => rule instanceof CSSImportRule;
  const written = (rules) => [...rules].filter((rule) => !isImport(rule)).map((rule) => rule.cssText).join('\\n');
  const isSame = (sheet, text) => {
    try {
      const copy = new CSSStyleSheet();
      copy.replaceSync(text);
      return written(copy.cssRules) === written(sheet.cssRules);
    } catch (error) {
      // Scripts cannot read the rules of a style sheet of another origin, so none has changed them.
      return error instanceof DOMException && error.name === 'SecurityError';
    }
  };
  const { get: textOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent');
  const { get: baseOf } = Object.getOwnPropertyDescriptor(Node.prototype, 'baseURI');
  const texts = new Map(sheets);
  const [styles, changed, undo] = [[], [], []];
  let room = ${MAX_STYLE_CHARACTERS};
  const absolute = (text, base) => text
    .replace(/url\\(\\s*(?:"([^"\\\\\\n]*)"|'([^'\\\\\\n]*)'|([^\\s"'()\\\\]+))\\s*\\)/g, (all, ...given) => {
      const url = given.slice(0, 3).find((each) => each !== undefined);
      return /^(?:#|data:)/.test(url) || !URL.canParse(url, base) ? all : 'url("' + new URL(url, base).href + '")';
    });
  const { get: sheetsOf } = Object.getOwnPropertyDescriptor(Document.prototype, 'styleSheets');
  for (const sheet of [...sheetsOf.call(document)]) {
    const { ownerNode: owner, href, media } = sheet;
    if (href !== null && texts.has(href) && !isSame(sheet, texts.get(href))) changed.push(href);
    if (!(owner instanceof HTMLStyleElement) || styles.length === ${MAX_STYLES}) continue;
    const text = textOf.call(owner);
    room -= text.length;
    const isKept = room >= 0 && !/@import|@charset/.test(text) && isSame(sheet, text);
    const query = media.mediaText;
    styles.push(!isKept ? null : absolute(query === '' ? text : '@media ' + query + ' {\\n' + text + '\\n}', baseOf.call(owner)));
    const mark = document.createComment('capstan-style-' + (styles.length - 1));
    Element.prototype.before.call(owner, mark);
    undo.push(() => CharacterData.prototype.remove.call(mark));
  }
  let drawn = ${MAX_CANVAS_CHARACTERS};
  for (const canvas of [...Document.prototype.querySelectorAll.call(document, 'canvas')].slice(0, ${MAX_CANVASES})) {
    if (canvas.width * canvas.height === 0 || canvas.width * canvas.height > ${MAX_CANVAS_PIXELS}) continue;
    try {
      const picture = HTMLCanvasElement.prototype.toDataURL.call(canvas);
      drawn -= picture.length;
      if (drawn < 0) break;
      const style = Element.prototype.getAttribute.call(canvas, 'style');
      // Where no scripts run, a canvas is an element like others, which shows its content.
      const { display, width, height } = getComputedStyle(canvas);
      const looks = {
        background: 'url(' + picture + ') 0 0 / 100% 100% no-repeat content-box',
        display: display === 'inline' ? 'inline-block' : display,
        width, height, overflow: 'hidden', 'font-size': '0', 'line-height': '0',
      };
      for (const [name, value] of Object.entries(looks)) canvas.style.setProperty(name, value, 'important');
      undo.push(() => style === null ? Element.prototype.removeAttribute.call(canvas, 'style') : Element.prototype.setAttribute.call(canvas, 'style', style));
    } catch {
      // It shows images of other origins, so it cannot be read.
    }
  }
  ${KEPT} = undo;
  return { styles, changed };
}`;

/** Runs in the page. Takes back what `PREPARE_ARCHIVE` has changed. */
export const RESTORE_PAGE = `() => {
  for (const each of ${KEPT} ?? []) each();
  ${KEPT} = undefined;
}`;
