import type { Sequence, WordsQuery } from './query.ts';
import { type Token, tokensOf } from './tokens.ts';

/** Characters around a hit that a snippet shows, on each side. */
const AROUND = 70;
const MAX_SNIPPETS = 3;

/** A part of a text, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a text with hits in it, which are parts of the same text. */
export interface Passage extends Span {
  readonly hits: readonly Span[];
}

/** Whether a text with these words meets a query. */
export function meetsWords(tokens: readonly Token[], { wanted, unwanted }: WordsQuery): boolean {
  const has = (sequence: Sequence) => !hitsOf(tokens, sequence).next().done;
  return wanted.every(has) && !unwanted.some(has);
}

/** Returns up to three passages of a text that show what a query has found: each of its words first. */
export function passagesOf(text: string, { wanted }: WordsQuery): readonly Passage[] {
  const tokens = tokensOf(text);
  const found = wanted.map((sequence) => [...hitsOf(tokens, sequence).take(MAX_SNIPPETS)]);
  const hits: Span[] = [];
  for (let at = 0; at < MAX_SNIPPETS; at += 1) hits.push(...found.flatMap((ofOne) => ofOne.slice(at, at + 1)));
  const passages: Passage[] = [];
  for (const hit of hits) {
    const at = passages.findIndex(({ start, end }) => hit.start >= start && hit.end <= end);
    const around = passages[at];
    if (around !== undefined) passages[at] = { ...around, hits: inOrder([...around.hits, hit]) };
    else if (passages.length < MAX_SNIPPETS) passages.push({ ...surroundings(text, hit), hits: [hit] });
  }
  return passages.toSorted((a, b) => a.start - b.start);
}

function* hitsOf(tokens: readonly Token[], { words, isPrefix }: Sequence): Generator<Span> {
  const last = words.length - 1;
  for (let at = 0; at + last < tokens.length; at += 1) {
    const isHit = words.every((word, index) => {
      const found = tokens[at + index]?.word;
      return found === word || (isPrefix && index === last && found?.startsWith(word) === true);
    });
    if (isHit) yield { start: tokens[at]?.start ?? 0, end: tokens[at + last]?.end ?? 0 };
  }
}

/** Returns the part of a text around a hit, cut between words where it has spaces. */
function surroundings(text: string, { start, end }: Span): Span {
  const before = text.slice(Math.max(0, start - AROUND), start);
  const after = text.slice(end, end + AROUND);
  const cutBefore = start > AROUND ? before.search(/\s/) + 1 : 0;
  const lastSpace = /\s\S*$/.exec(after)?.index ?? after.length;
  const cutAfter = end + AROUND < text.length ? lastSpace : after.length;
  return wellFormed(text, { start: start - before.length + cutBefore, end: end + cutAfter });
}

/** Widens a part that would divide a character. */
function wellFormed(text: string, { start, end }: Span): Span {
  const isInside = (at: number) =>
    /^[\udc00-\udfff]$/.test(text.charAt(at)) && /^[\ud800-\udbff]$/.test(text.charAt(at - 1));
  return { start: isInside(start) ? start - 1 : start, end: isInside(end) ? end + 1 : end };
}

function inOrder(spans: readonly Span[]): readonly Span[] {
  const known = new Map(spans.map((span) => [span.start, span]));
  return [...known.values()].sort((a, b) => a.start - b.start);
}
