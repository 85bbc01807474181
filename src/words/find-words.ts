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
  /** For each word, the first position of the same word: words are compared as numbers. */
  readonly same: Uint32Array;
  /** The places of words by their other spellings. */
  readonly spellings: ReadonlyMap<string, readonly Span[]>;
  /** Generates the words and other spellings that begin with a prefix, each once. */
  readonly startingWith: (prefix: string) => Generator<string>;
}

export function wordsIn(text: string): IndexedWords {
  const tokens = tokensOf(text);
  return indexed(tokens, spellingsOf(text, tokens));
}

export function indexed(tokens: readonly Token[], others: readonly Token[] = []): IndexedWords {
  const positions = new Map<string, number[]>();
  const same = new Uint32Array(tokens.length);
  for (const [at, { word }] of tokens.entries()) {
    const known = positions.get(word);
    if (known === undefined) positions.set(word, [at]);
    else known.push(at);
    same[at] = known?.[0] ?? at;
  }
  const spellings = Map.groupBy(others, ({ word }) => word);
  let sorted: readonly string[] | undefined;
  const startingWith = function* (prefix: string): Generator<string> {
    sorted ??= [...new Set([...positions.keys(), ...spellings.keys()])].sort();
    for (let at = placeOf(prefix, sorted); sorted[at]?.startsWith(prefix); at += 1) yield sorted[at] ?? '';
  };
  return { tokens, positions, same, spellings, startingWith };
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
  const hasBeginning = (prefix: string) => !text.startingWith(prefix).next().done;
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
    const spellings = isPrefix ? [...text.startingWith(word)] : [word];
    yield* spellings.flatMap((spelling) => text.spellings.get(spelling) ?? []).sort((a, b) => a.start - b.start);
  }
}

/** Generates the places of words that follow each other, in their order. */
function* runsOf(text: IndexedWords, { words, isPrefix }: Pick<Sequence, 'words' | 'isPrefix'>): Generator<Span> {
  const { tokens, positions, startingWith } = text;
  const last = words.length - 1;
  const beginning = words[last] ?? '';
  const whole = isPrefix ? words.slice(0, -1) : words;
  const beginnings = () => [...startingWith(beginning)].flatMap((word) => positions.get(word) ?? []);
  const starts = whole.length === 0 ? beginnings().sort((one, other) => one - other) : startsOf(text, whole);
  for (const start of starts) {
    const isHit = !isPrefix || tokens[start + last]?.word.startsWith(beginning) === true;
    if (isHit) yield { start: tokens[start]?.start ?? 0, end: tokens[start + last]?.end ?? 0 };
  }
}

/** Generates where words follow each other. Reads each word of the text once, also when the words repeat (KMP). */
function* startsOf({ positions, same }: IndexedWords, words: readonly string[]): Generator<number> {
  const wanted = words.flatMap((word) => positions.get(word)?.[0] ?? []);
  const [first] = wanted;
  if (first === undefined || wanted.length < words.length) return;
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = first; at < same.length; at += 1) {
    const word = same[at];
    while (matched > 0 && wanted[matched] !== word) matched = borders[matched - 1] ?? 0;
    if (wanted[matched] === word) matched += 1;
    if (matched < wanted.length) continue;
    yield at + 1 - matched;
    matched = borders[matched - 1] ?? 0;
  }
}

/** Returns, for each beginning of a sequence, the length of the longest shorter one that it ends with. */
function bordersOf(sequence: readonly number[]): readonly number[] {
  const borders = [0];
  for (let at = 1; at < sequence.length; at += 1) {
    let length = borders[at - 1] ?? 0;
    while (length > 0 && sequence[length] !== sequence[at]) length = borders[length - 1] ?? 0;
    borders.push(sequence[length] === sequence[at] ? length + 1 : 0);
  }
  return borders;
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
