import { folded } from './folded.ts';
import { cut, isUnspaced, type Token, tokensOf } from './tokens.ts';

/*
 * Other spellings by which words are found: `ue` for `ü`, one word for hyphenated ones, Arabic without its article.
 * They are found as words are, but not in phrases: there they have no place among the words.
 */

const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };
const UMLAUT = new RegExp(`[${Object.keys(UMLAUTS).join('')}]`, 'g');
/** Most words need not be folded again. Letters may be taken apart. */
const HAS_UMLAUT = /[äöüøåÄÖÜØÅ]|\u0308|\u030a/;
const HYPHEN = /[-\u2010\u2011]/;
const LETTERS = /^[\p{L}\p{M}]+$/u;
/**
 * Also with `and`, `so`, `by`, `like` and `for` before it, which are written to it. Shorter words may begin like it.
 */
const ARTICLE = /^(?:[\u0648\u0641\u0628\u0643]?\u0627\u0644|\u0644\u0644)(?=.{3})/u;
/** Maximum number of hyphenated words that are also one word. */
const MAX_JOINED = 4;

/** Returns the words that a text also has in another spelling, each with the place of what it stands for. */
export function spellingsOf(text: string, tokens = tokensOf(text)): readonly Token[] {
  const spellings: Token[] = [];
  const join = (words: readonly Token[], { end }: Token, { start }: Token) =>
    spellings.push({ word: cut(words.map(({ word }) => word).join('')), start, end });
  let hyphenated: Token[] = [];
  for (const token of tokens) {
    const { word, start, end } = token;
    const last = hyphenated.at(-1);
    if (last?.end === start - 1 && HYPHEN.test(text.charAt(last.end)) && !isUnspaced(word)) {
      hyphenated.push(token);
      if (LETTERS.test(last.word)) join([last, token], token, last);
      const [first] = hyphenated;
      if (first !== undefined && hyphenated.length > 2 && hyphenated.length <= MAX_JOINED)
        join(hyphenated, token, first);
    } else hyphenated = LETTERS.test(word) && !isUnspaced(word) ? [token] : [];
    const bare = word.replace(ARTICLE, '');
    if (bare !== word) spellings.push({ word: bare, start, end });
    const written = text.slice(start, end);
    if (HAS_UMLAUT.test(written)) spellings.push(...withoutUmlauts(written).map((one) => ({ word: one, start, end })));
  }
  return spellings;
}

/** Returns a word as keyboards without umlauts write it; none for what is no single word. */
function withoutUmlauts(written: string): readonly string[] {
  const plain = folded(written);
  const spelled = plain.replace(UMLAUT, (letter) => UMLAUTS[letter] ?? letter);
  const words = spelled === plain ? [] : tokensOf(spelled).map(({ word }) => word);
  return words.length === 1 ? words : [];
}
