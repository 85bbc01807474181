import { passagesOf, type Span } from '../../words/find-words.ts';
import { wordsQuery } from '../../words/query.ts';
import { type PageWords, unpackWords } from '../result/page-words.ts';
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

/** Least width of a character, in heights of its line: a place with narrower ones has several lines. */
const MIN_CHARACTER = 0.2;
const RIGHT_TO_LEFT = /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}]/u;

/** Returns the boxes of a hit: the parts of lines that it takes, or whole places where that is not known. */
function boxesOf({ text, places }: PageWords, hit: Span): readonly Box[] {
  return places.flatMap(([start, x, y, width, height], at) => {
    const end = places[at + 1]?.[0] ?? text.length;
    const isShown = width > 0 && height > 0;
    if (!isShown || start >= hit.end || end <= hit.start) return [];
    const line = text.slice(start, end).trimEnd();
    const isOneLine = width > line.length * height * MIN_CHARACTER && !RIGHT_TO_LEFT.test(line);
    if (!isOneLine) return [{ x, y, width, height }];
    const share = (place: number) => Math.min(Math.max(place - start, 0) / line.length, 1);
    const left = Math.floor(x + width * share(hit.start));
    return [{ x: left, y, width: Math.ceil(x + width * share(hit.end)) - left, height }];
  });
}
