import { passagesOf, type Span } from '../words/find-words.ts';
import { wordsQuery } from '../words/query.ts';
import { type PageWords, unpackWords } from './page-words.ts';
import type { Snippet } from './snippet.ts';

type Box = Snippet['boxes'][number];

/** Returns up to three snippets of a page. `packed`: its words; `words`: the condition that it meets. */
export function snippetsOf(packed: string, words: string): readonly Snippet[] {
  const page = unpackWords(packed);
  return passagesOf(page.text, wordsQuery(words)).map(({ start, end, hits }) => ({
    text: page.text.slice(start, end).replaceAll(/\s/g, ' '),
    highlights: hits.map((hit) => ({ start: hit.start - start, end: hit.end - start })),
    boxes: hits.flatMap((hit) => boxesOf(page, hit)),
  }));
}

/** Returns the boxes of the parts of the text that a hit is in. */
function boxesOf({ text, places }: PageWords, hit: Span): readonly Box[] {
  return places.flatMap(([start, x, y, width, height], at) => {
    const end = places[at + 1]?.[0] ?? text.length;
    const isShown = width > 0 && height > 0;
    return isShown && start < hit.end && end > hit.start ? [{ x, y, width, height }] : [];
  });
}
