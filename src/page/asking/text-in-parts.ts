import { z } from 'zod';
import type { TextBeginning } from '../../page-scripts/running/in-parts.ts';
import { type Call, call, functionOf } from './page-scripts.ts';

/** Maximum length of a part and of a whole text: twice the longest document. A compromised renderer could claim any. */
const MAX_PART_CHARACTERS = 256 * 1024 + 1;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The first answer of a page for a text that comes in parts. */
export const textBeginning: z.ZodType<TextBeginning> = z.object({
  text: z.string(),
  length: z.int().min(0).max(MAX_CHARACTERS),
  key: z.number(),
});

/** Returns a call that returns the beginning of the JSON of what another call returns. */
export function inParts(asked: Call): Call<TextBeginning> {
  return `(${functionOf('valueInParts')})(${asked})` as Call<TextBeginning>;
}

/**
 * Resolves with the text of a call of `inParts`; undefined when it is none or longer than `maxCharacters`, or when the
 * document was replaced meanwhile.
 */
export async function wholeText(
  ask: (call: Call) => Promise<unknown>,
  asked: Call<TextBeginning>,
  maxCharacters = MAX_CHARACTERS,
): Promise<string | undefined> {
  const { data: beginning } = textBeginning.safeParse(await ask(asked));
  if (beginning === undefined || beginning.length > maxCharacters) return undefined;
  let text = '';
  for await (const part of partsOf(beginning, ask)) {
    if (part === undefined) return undefined;
    text += part;
  }
  return text;
}

/**
 * Yields the parts of a text, which `ask` reads in the world of its beginning. Yields undefined and ends when the
 * document was replaced meanwhile.
 */
export async function* partsOf(
  { text, length, key }: TextBeginning,
  ask: (part: Call) => Promise<unknown>,
): AsyncGenerator<string | undefined> {
  yield text;
  let next = text;
  for (let at = 1, left = length - text.length; left > 0; at += 1, left -= next.length) {
    const part = await ask(call('nextPart', key, at));
    const isPart = typeof part === 'string' && part.length > 0 && part.length <= MAX_PART_CHARACTERS;
    yield isPart ? part : undefined;
    if (!isPart) return;
    next = part;
  }
}
