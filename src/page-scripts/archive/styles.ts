import type { PageElement } from '../dom/dom.ts';
import { baseOf, createComment, insertBefore, interfaceOf, isElement, page, remove, textOf } from '../dom/dom.ts';
import { type StyleSheet, sheetsOf } from '../dom/styles.ts';
import { resolvedFrom } from '../dom/urls.ts';
import { web } from '../dom/web.ts';

const MAX_STYLES = 1_000;
/** Maximum number of characters of the texts of all <style> elements. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** A URL in a style sheet, in one of three notations. */
const URL_IN_STYLE = /url\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^\s"'()\\]+))\s*\)/g;
/** A set of images, and the URLs in it that are plain texts. */
const IMAGE_SET = /image-set\((?:[^()]|\([^()]*\))*\)/gi;
const URL_IN_SET = /(?<=(?:image-set\(|,)\s*)(?:"[^"\\\n]*"|'[^'\\\n]*')/gi;

export interface MarkedStyles {
  /** The text of each <style> element; null when a script has changed its rules. */
  readonly styles: (string | null)[];
  /** URLs of the style sheets that a script has changed. */
  readonly changed: string[];
  /** Takes the marks away. */
  readonly undo: (() => void)[];
}

/**
 * Puts a mark before each <style> element: a comment of `mark` and its number. `sheets`: linked style sheets as they
 * were sent, by URL.
 */
export function markStyles(sheets: ReadonlyMap<string, string>, mark: string): MarkedStyles {
  const found: MarkedStyles = { styles: [], changed: [], undo: [] };
  let room = MAX_CHARACTERS;
  for (const sheet of sheetsOf(page)) {
    const sent = sheet.href === null ? undefined : sheets.get(sheet.href);
    if (sheet.href !== null && sent !== undefined && !isSame(sheet, sent)) found.changed.push(sheet.href);
    const { ownerNode: owner } = sheet;
    if (!isElement(owner) || interfaceOf(owner) !== 'HTMLStyleElement' || found.styles.length === MAX_STYLES) continue;
    const text = textOf(owner);
    room -= text.length;
    const isKept = room >= 0 && !/@import|@charset/.test(text) && isSame(sheet, text);
    found.styles.push(isKept ? asWritten(owner, text, sheet.media.mediaText) : null);
    const comment = createComment(page, `${mark}${found.styles.length - 1}`);
    insertBefore(owner, comment);
    found.undo.push(() => remove(comment));
  }
  return found;
}

/** Whether a style sheet has the rules of this text. */
function isSame(sheet: StyleSheet, text: string): boolean {
  try {
    const copy = new web.CSSStyleSheet();
    copy.replaceSync(text);
    return rulesOf(copy) === rulesOf(sheet);
  } catch (error) {
    // Scripts cannot read the rules of a style sheet of another origin, so none has changed them.
    return error instanceof Error && error.name === 'SecurityError';
  }
}

function rulesOf({ cssRules }: StyleSheet): string {
  const rules = [...cssRules].filter((rule) => !(rule instanceof web.CSSImportRule));
  return rules.map((rule) => rule.cssText).join('\n');
}

/** Returns the text for an archive, in which it is a file of its own. */
function asWritten(owner: PageElement, text: string, media: string): string {
  const whole = media === '' ? text : `@media ${media} {\n${text}\n}`;
  return withAbsoluteUrls(whole, baseOf(owner));
}

export function withAbsoluteUrls(text: string, base: string): string {
  const written = text.replace(IMAGE_SET, (set) => set.replace(URL_IN_SET, (url) => `url(${url})`));
  return written.replace(URL_IN_STYLE, (all, ...groups: (string | undefined)[]) => {
    const url = groups.slice(0, 3).find((each) => each !== undefined) ?? '';
    const absolute = /^(?:#|data:)/.test(url) ? null : resolvedFrom(url, base);
    return absolute === null ? all : `url("${absolute.href}")`;
  });
}
