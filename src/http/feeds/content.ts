import { escapedHtml, linkedUrl } from '../../capture/basics/html-text.ts';
import type { ShownEntry } from './feed.ts';

/** Returns what readers show of an entry, as HTML. */
export function contentOf({ lines, screenshot, difference, title }: ShownEntry): string {
  const texts = lines.map((line) => `<p>${linkedUrl(line)}</p>`);
  const images = [difference, screenshot?.info.format === 'pdf' ? undefined : screenshot?.url]
    .filter((url) => url !== undefined)
    .map((url) => `<p><img src="${escapedHtml(url)}" alt="${escapedHtml(title)}"></p>`);
  return [...texts, ...images].join('\n');
}

/** Characters that a URI has only encoded, and browsers leave as they are. */
const NOT_OF_A_URI = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;

/** Returns the URL of a page as a URI; undefined when it is not http or https. */
export function uriOf(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url)) return undefined;
  return url.toWellFormed().replaceAll(NOT_OF_A_URI, encodeURIComponent);
}
