import { z } from 'zod';

/*
 * A long text comes from the page in several messages. Joining, decoding and parsing a single one would block the event
 * loop: 14 ms per million Chinese characters.
 */

const PART_CHARACTERS = 256 * 1024;
/** Maximum length of a whole text: twice the longest document. A compromised renderer could claim any length. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const KEPT = `globalThis[Symbol.for('capstan-texts')]`;

/** Answer of `IN_PARTS`: the beginning of a text, its length in UTF-16 code units, and which text it is. */
export const textBeginning = z.object({
  text: z.string(),
  length: z.int().min(0).max(MAX_CHARACTERS),
  key: z.number(),
});
export type TextBeginning = z.output<typeof textBeginning>;

/** Runs in the page. Returns the beginning of a text. The world keeps the rest until `partsOf` has read it. */
export const IN_PARTS = `(text) => {
  // A surrogate pair is not divided.
  const end = (part) => part * ${PART_CHARACTERS} - (text.codePointAt(part * ${PART_CHARACTERS} - 1) > 0xffff ? 1 : 0);
  const isLast = (part) => (part + 1) * ${PART_CHARACTERS} >= text.length;
  const part = (at) => text.slice(at === 0 ? 0 : end(at), end(at + 1));
  // Each text has a key: a late text, of an output that was given up, must not replace the next one.
  const kept = (${KEPT} ??= { last: 0, parts: new Map() });
  const key = (kept.last += 1);
  const next = (at) => {
    if (isLast(at)) kept.parts.delete(key);
    return part(at);
  };
  if (!isLast(0)) kept.parts.set(key, next);
  return { text: part(0), length: text.length, key };
}`;

/**
 * Resolves with the text of an expression of `IN_PARTS`; undefined when it is none or longer than `maxCharacters`, or when
 * the document was replaced meanwhile.
 */
export async function wholeText(
  evaluate: (expression: string) => Promise<unknown>,
  expression: string,
  maxCharacters = MAX_CHARACTERS,
): Promise<string | undefined> {
  const { data: beginning } = textBeginning.safeParse(await evaluate(expression));
  if (beginning === undefined || beginning.length > maxCharacters) return undefined;
  let text = '';
  for await (const part of partsOf(beginning, evaluate)) {
    if (part === undefined) return undefined;
    text += part;
  }
  return text;
}

/**
 * Yields the parts of a text, which `evaluate` reads in the world of its beginning. Yields undefined and ends when the
 * document was replaced meanwhile.
 */
export async function* partsOf(
  { text, length, key }: TextBeginning,
  evaluate: (expression: string) => Promise<unknown>,
): AsyncGenerator<string | undefined> {
  yield text;
  for (let at = 1; at * PART_CHARACTERS < length; at += 1) {
    const part = await evaluate(`${KEPT}?.parts.get(${key})?.(${at})`);
    const isPart = typeof part === 'string' && part.length <= PART_CHARACTERS + 1;
    yield isPart ? part : undefined;
    if (!isPart) return;
  }
}
