import { hashOf } from '../../words/text-hash.ts';

/** Returns a text, or the beginning of a longer one with its hash. */
export function short(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text.toWellFormed();
  return `${text.slice(0, maxCharacters).toWellFormed()}#${hashOf(text)}`;
}
