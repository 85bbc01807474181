import { childrenOf, type PageElement, page, select, textOf } from '../dom/dom.ts';

/*
 * JSON-LD that the page publishes for search engines. Visitors do not see it, so no output of text contains it.
 */

const MAX_ANNOUNCEMENTS = 20;
const MAX_ANNOUNCEMENT_CHARACTERS = 500_000;
const MIN_ANNOUNCED_CHARACTERS = 80;
/** Maximum number of levels and of members of a list that are searched. */
const MAX_DEPTH = 5;
const MAX_MEMBERS = 100;

/** Returns the first announcements of the page. */
export function announcements(): unknown[] {
  return select(page, 'script[type="application/ld+json"]')
    .slice(0, MAX_ANNOUNCEMENTS)
    .flatMap((script) => {
      const source = textOf(script);
      try {
        return source.length <= MAX_ANNOUNCEMENT_CHARACTERS ? [JSON.parse(source) as unknown] : [];
      } catch {
        return [];
      }
    });
}

/** Returns a value of an announcement as an object or list to look into; undefined when it is neither, or too deep. */
export function searchable(value: unknown, depth: number): readonly unknown[] | Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  return Array.isArray(value) ? value.slice(0, MAX_MEMBERS) : (value as Record<string, unknown>);
}

/**
 * Returns the element of the copy with the text that the page announces to search engines as that of its article or
 * posting, or undefined.
 */
export function announcedIn(body: PageElement): PageElement | undefined {
  for (const announcement of announcements()) {
    const words = compact(articleIn(announcement, 0));
    if (words.length < MIN_ANNOUNCED_CHARACTERS) continue;
    const holds = (element: PageElement) => {
      const text = compact(textOf(element));
      return text.length >= words.length * 0.8 && text.includes(words.slice(0, MIN_ANNOUNCED_CHARACTERS));
    };
    let best = body;
    for (let next: PageElement | undefined = body; next !== undefined; next = childrenOf(next).find(holds)) best = next;
    if (best !== body) return best;
  }
  return undefined;
}

function articleIn(value: unknown, depth: number): string {
  const found = searchable(value, depth);
  if (found === undefined) return '';
  if (!isList(found)) {
    const { text, articleBody } = found;
    if (typeof text === 'string') return text;
    return typeof articleBody === 'string' ? articleBody : articleIn(found['@graph'], depth + 1);
  }
  for (const each of found) {
    const text = articleIn(each, depth + 1);
    if (text !== '') return text;
  }
  return '';
}

export const isList = (value: readonly unknown[] | Record<string, unknown>): value is readonly unknown[] =>
  Array.isArray(value);

const compact = (text: string): string => text.replace(/\s+/g, '');
