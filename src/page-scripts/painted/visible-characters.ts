/** A text that nobody sees, and the technique that hides it. */
export interface UnseenText {
  readonly technique: string;
  readonly text: string;
}

/** Most texts have none of these characters. */
const SUSPECT =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0\udb40]|[\ufe00-\ufe0f]/;
/** Flags of regions (England, Scotland) are a flag followed by tags, which are part of the picture. */
const TAGS = /(\u{1f3f4}[\u{e0030}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]+/gu;
const VARIATION_SELECTORS = /[\u{e0100}-\u{e01ef}]{2,}|[\ufe00-\ufe0f]{2,}/gu;
/** Carries no message: it says where a word may be divided, and is not among what is hidden. */
const SOFT_HYPHEN = '\u00ad';
const ZERO_WIDTH =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]+|[\u200b-\u200f]{2,}/gu;

/**
 * Takes out of a text the characters that nobody sees and that can carry a message: tags, zero-width characters,
 * supplementary variation selectors. Returns the rest, and what was taken out.
 */
export function visibleCharacters(text: string): { readonly seen: string; readonly unseen: readonly UnseenText[] } {
  if (!SUSPECT.test(text)) return { seen: text.replaceAll(SOFT_HYPHEN, ''), unseen: [] };
  const unseen: UnseenText[] = [];
  const take = (technique: string, hidden: string) => {
    unseen.push({ technique, text: hidden });
    return '';
  };
  const seen = text
    .replace(TAGS, (run, flag?: string) => flag ?? take('tags', asciiOf(run)))
    .replace(VARIATION_SELECTORS, (run) => take('variation-selectors', codesOf(run)))
    .replace(ZERO_WIDTH, (run) => take('zero-width', codesOf(run)))
    .replaceAll(SOFT_HYPHEN, '');
  return { seen, unseen };
}

const codesOf = (run: string): string =>
  [...run].map((each) => `U+${codeOf(each).toString(16).toUpperCase()}`).join(' ');
/** Tags stand for the characters of ASCII. */
const asciiOf = (run: string): string => [...run].map((each) => String.fromCharCode(codeOf(each) & 0x7f)).join('');
const codeOf = (character: string): number => character.codePointAt(0) ?? 0;
