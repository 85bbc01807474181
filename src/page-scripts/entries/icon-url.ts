import { interfaceOf, linkedBy, page, select, urlOf } from '../dom.ts';
import { web } from '../web.ts';

/** Returns the URL of the icon that the page names, or of the default location; null for none, or a longer one. */
export function run(maxCharacters: number): string | null {
  const links = select(page, 'link[rel~="icon" i][href]').filter((link) => interfaceOf(link) === 'HTMLLinkElement');
  const url = links.map(linkedBy).find((href) => /^(https?|data):/.test(href)) ?? defaultUrl();
  return url !== null && url.length <= maxCharacters ? url : null;
}

function defaultUrl(): string | null {
  const [path, base] = ['/favicon.ico', urlOf(page)];
  return web.URL.canParse(path, base) ? new web.URL(path, base).href : null;
}
