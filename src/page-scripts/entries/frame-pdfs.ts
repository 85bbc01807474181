import {
  attribute,
  cloneOf,
  closest,
  type PageElement,
  page,
  parentElementOf,
  replaceWith,
  select,
  setAttribute,
} from '../dom.ts';
import { resolved } from '../urls.ts';
import { web } from '../web.ts';

/**
 * Makes each `<embed>` and `<object>` of a PDF load it into a frame, as if it were HTML, where a browser has no viewer.
 * Returns their number.
 */
export function run(): number {
  if (web.navigator.pdfViewerEnabled) return 0;
  const found = select(page, 'embed, object').filter((element) => isPdf(element) && !isFallback(element));
  for (const element of found) {
    // An object that shows its fallback ignores another type.
    const copy = cloneOf(element, true);
    setAttribute(copy, 'type', 'text/html');
    replaceWith(element, copy);
  }
  return found.length;
}

function isPdf(element: PageElement): boolean {
  const url = resolved(attribute(element, 'src') ?? attribute(element, 'data') ?? '', element);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const type = attribute(element, 'type') ?? '';
  return type === '' ? /\.pdf(?:[?#]|$)/i.test(url.href) : /^application\/(?:x-)?pdf\b/i.test(type.trim());
}

/** Returns whether the element is inside an `<object>`, which shows it only if it cannot show its own content. */
function isFallback(element: PageElement): boolean {
  const parent = parentElementOf(element);
  return parent !== null && closest(parent, 'object') !== null;
}
