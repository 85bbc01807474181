import { kept } from './kept.ts';

/*
 * A long text leaves the page in several messages. Joining, decoding and parsing a single one would block the service's
 * event loop: 14 ms per million Chinese characters.
 */

/** Maximum number of characters of a part. A surrogate pair is not divided. */
const PART_CHARACTERS = 256 * 1024;

/** The beginning of a text, the length of all of it in UTF-16 code units, and the key under which the rest is kept. */
export interface TextBeginning {
  readonly text: string;
  readonly length: number;
  readonly key: number;
}

/** Returns the beginning of a text. The world keeps the rest until `nextPart` has returned it. */
export function inParts(text: string): TextBeginning {
  const texts = keptTexts();
  // Each text has a key: a late text, of an output that was given up, must not replace the next one.
  texts.last += 1;
  if (!isLast(text, 0)) texts.parts.set(texts.last, text);
  return { text: partOf(text, 0), length: text.length, key: texts.last };
}

/** Returns part `at` of a text, which is forgotten after its last one; undefined when the world keeps no such text. */
export function nextPart(key: number, at: number): string | undefined {
  const { parts } = keptTexts();
  const text = parts.get(key);
  if (text === undefined) return undefined;
  if (isLast(text, at)) parts.delete(key);
  return partOf(text, at);
}

const keptTexts = () => kept('texts', () => ({ last: 0, parts: new Map<number, string>() }));

const isLast = (text: string, at: number): boolean => (at + 1) * PART_CHARACTERS >= text.length;

const partOf = (text: string, at: number): string => text.slice(at === 0 ? 0 : endOf(text, at), endOf(text, at + 1));

const endOf = (text: string, part: number): number => {
  const end = part * PART_CHARACTERS;
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
};
