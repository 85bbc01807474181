import { type Sequence, singleWordsOf, type WordsQuery } from './query.ts';
import { spellingsOf } from './spellings.ts';
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
interface Passage extends Span {
  readonly hits: readonly Span[];
}

/** The words of a text, with the positions of each, so that looking for many words does not read the text again. */
export interface IndexedWords {
  readonly tokens: readonly Token[];
  readonly positions: ReadonlyMap<string, readonly number[]>;
  /** The places of words by their other spellings. */
  readonly spellings: ReadonlyMap<string, readonly Span[]>;
  /** Returns the words and other spellings that begin with a prefix, each once. */
  readonly startingWith: (prefix: string) => readonly string[];
}

export function wordsIn(text: string): IndexedWords {
  const tokens = tokensOf(text);
  return indexed(tokens, spellingsOf(text, tokens));
}

export function indexed(tokens: readonly Token[], others: readonly Token[] = []): IndexedWords {
  const positions = new Map<string, number[]>();
  for (const [at, { word }] of tokens.entries()) {
    const known = positions.get(word);
    if (known === undefined) positions.set(word, [at]);
    else known.push(at);
  }
  const spellings = Map.groupBy(others, ({ word }) => word);
  let sorted: readonly string[] | undefined;
  const startingWith = (prefix: string): readonly string[] => {
    sorted ??= [...new Set([...positions.keys(), ...spellings.keys()])].sort();
    return sorted.slice(placeOf(prefix, sorted), placeOf(`${prefix}\uffff`, sorted));
  };
  return { tokens, positions, spellings, startingWith };
}

/** Returns where a word is in sorted ones, or would be. */
function placeOf(word: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a text with these words meets a query. */
export function meetsWords(text: IndexedWords, { wanted, unwanted }: WordsQuery): boolean {
  const hasWord = (word: string) => text.positions.has(word) || text.spellings.has(word);
  const hasBeginning = (prefix: string) => text.startingWith(prefix).length > 0;
  const has = (sequence: Sequence) =>
    singleWordsOf(sequence).some(sequence.isPrefix ? hasBeginning : hasWord) ||
    (sequence.words.length > 1 && !runsOf(text, sequence).next().done);
  return wanted.every(has) && !unwanted.some(has);
}

/** Returns up to three passages of a text that show what a query has found: each of its words first. */
export function passagesOf(text: string, { wanted }: WordsQuery): readonly Passage[] {
  const words = wordsIn(text);
  const found = wanted.map((sequence) => [...hitsOf(words, sequence).take(MAX_SNIPPETS)]);
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

/** Generates the places of a sequence, and of what means the same. */
function* hitsOf(text: IndexedWords, sequence: Sequence): Generator<Span> {
  const { others, isPrefix } = sequence;
  yield* runsOf(text, sequence);
  for (const other of others) yield* runsOf(text, { words: [other], isPrefix });
  for (const word of singleWordsOf(sequence)) {
    const spellings = isPrefix ? text.startingWith(word) : [word];
    yield* spellings.flatMap((spelling) => text.spellings.get(spelling) ?? []).sort((a, b) => a.start - b.start);
  }
}

/** Generates the places of words that follow each other, in their order. Reads those of its rarest whole word alone. */
function* runsOf(
  { tokens, positions, startingWith }: IndexedWords,
  { words, isPrefix }: Pick<Sequence, 'words' | 'isPrefix'>,
): Generator<Span> {
  const last = words.length - 1;
  const whole = isPrefix ? words.slice(0, -1) : words;
  const places = whole.map((word, offset) => ({ offset, at: positions.get(word) ?? [] }));
  const beginnings = () => startingWith(words[0] ?? '').flatMap((word) => positions.get(word) ?? []);
  const { at, offset } = places.toSorted((a, b) => a.at.length - b.at.length)[0] ?? {
    at: beginnings().sort((one, other) => one - other),
    offset: 0,
  };
  for (const place of at) {
    const start = place - offset;
    const isHit = words.every((word, index) => {
      const found = tokens[start + index]?.word;
      return found === word || (isPrefix && index === last && found?.startsWith(word) === true);
    });
    if (isHit) yield { start: tokens[start]?.start ?? 0, end: tokens[start + last]?.end ?? 0 };
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
