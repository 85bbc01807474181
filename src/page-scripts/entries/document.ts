import { folded } from '../../words/folded.ts';
import {
  bodyOf,
  contentTypeOf,
  drawnTextOf,
  interfaceOf,
  isHtml,
  linkedBy,
  page,
  rootElementOf,
  select,
  stateOf,
  textOf,
  urlOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/** Chromium (156) draws JSON only once it is whole. */
const JSON_TYPE = /[/+]json$/;

/**
 * Returns whether what has come of the document can be drawn when no more of it comes: HTML only from its body on, XHTML
 * from its root on.
 */
export function canBeDrawn(): boolean {
  const type = contentTypeOf(page);
  if (rootElementOf(page) === null || JSON_TYPE.test(type)) return false;
  return type !== 'text/html' || bodyOf(page) !== null;
}

/** Returns whether the document is still being read, or was when its connection broke off. */
export function isLoading(): boolean {
  return stateOf(page) === 'loading';
}

/** Returns the host of the page's URL; empty for a URL without one. */
export function readHost(): string {
  return web.location.host;
}

/** Returns the origin of the document: `null` in a sandbox. */
export function origin(): string {
  return web.origin;
}

/** Returns the size of the window, scroll bars included. */
export function windowSize(): { readonly width: number; readonly height: number } {
  return { width: web.innerWidth, height: web.innerHeight };
}

/** Returns the URL of the icon that the page names, or of the default location; null for none, or a longer one. */
export function iconUrl(maxCharacters: number): string | null {
  const links = select(page, 'link[rel~="icon" i][href]').filter((link) => interfaceOf(link) === 'HTMLLinkElement');
  const url = links.map(linkedBy).find((href) => /^(https?|data):/.test(href)) ?? defaultUrl();
  return url !== null && url.length <= maxCharacters ? url : null;
}

function defaultUrl(): string | null {
  const [path, base] = ['/favicon.ico', urlOf(page)];
  return web.URL.canParse(path, base) ? new web.URL(path, base).href : null;
}

/** Returns the number of characters of the document's text. */
export function readTextLength(): number {
  const root = rootElementOf(page);
  return root === null ? 0 : textOf(root).length;
}

/** Returns the first of the texts that the page shows; null when there is none. */
export function findText(texts: readonly string[]): string | null {
  const root = rootElementOf(page);
  const shown = root !== null && isHtml(root) ? folded(drawnTextOf(root)) : '';
  return texts.find((text) => shown.includes(folded(text))) ?? null;
}

/** Replaces the document with an empty one in the same renderer. */
export function leaveDocument(): void {
  web.location.replace('about:blank');
}
