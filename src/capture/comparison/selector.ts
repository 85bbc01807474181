/* The syntax of selectors, which follows Playwright's. Decisions that need a browser are left to it. */

/** One part of a selector between `>>`. */
export type SelectorStep = XPathStep | CssStep;

export interface XPathStep {
  readonly xpath: string;
}

export interface CssStep {
  readonly css: string;
  /** The selectors of the list `css`, each as its compounds from left to right. */
  readonly alternatives: readonly (readonly Compound[])[];
}

/** `.button` in `article > .button`, with the combinator before it: a space for descendants, empty for the first. */
export interface Compound {
  readonly combinator: string;
  readonly compound: string;
}

export const MAX_SELECTOR_CHARACTERS = 1000;
/** Maximum number of steps of a selector. */
export const MAX_STEPS = 10;

/** Prefixes of XPath; no CSS selector starts like this. */
const XPATH = /^(?:\.?\/|\(|xpath=)/;
/** The name of a selector engine; no CSS selector starts like this. */
const ENGINE = /^[a-z][\w:-]*=/i;
/** Pseudo-classes that Playwright adds to those of the browser. */
const OF_PLAYWRIGHT =
  /:(?:visible|light|text|text-is|text-matches|has-text|nth-match|left-of|right-of|above|below|near)(?![\w-])/;

/** Characters that open a group, with those that close it. */
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '"': '"', "'": "'" };
/** A backslash and what it escapes: up to 6 hexadecimal digits and a space, or one character. */
const ESCAPE = /\\(?:[\da-f]{1,6}\s?|.)?/isy;

/** A character that separates nothing. */
const PLAIN = /[\w.#*:-]/;

/** Why a text is no selector. The message names the part that is wrong. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

/**
 * Parses a selector: CSS or XPath, in steps that are separated by `>>`. A step is XPath when it begins with `/`, `./`,
 * `(` or `xpath=`, and otherwise CSS, with or without `css=`.
 * @throws SelectorError
 */
export function parseSelector(text: string): readonly SelectorStep[] {
  const steps = splitAt(text, '>>').map(({ part }) => parseStep(part));
  if (steps.length > MAX_STEPS)
    throw new SelectorError(`it has ${steps.length} steps, and at most ${MAX_STEPS} are accepted`);
  return steps;
}

function parseStep(text: string): SelectorStep {
  if (text === '') throw new SelectorError('a step is empty');
  if (XPATH.test(text)) return { xpath: text.replace(/^xpath=/, '') };
  const css = text.replace(/^css=\s*/, '');
  const [engine] = ENGINE.exec(css) ?? [];
  if (engine !== undefined) throw new SelectorError(`${engine} is no prefix, other than css= and xpath=`);
  return { css, alternatives: splitAt(css, ',').map(({ part }) => compoundsOf(part)) };
}

function compoundsOf(text: string): readonly Compound[] {
  const found = splitAt(text, ' ').map(({ part, before }) => ({ combinator: before, compound: part }));
  for (const { compound } of found) {
    if (compound === '') throw new SelectorError(`a part of ${JSON.stringify(text)} is empty`);
    const [pseudo] = OF_PLAYWRIGHT.exec(compound.replaceAll(/"[^"]*"|'[^']*'/g, '""')) ?? [];
    if (pseudo !== undefined) throw new SelectorError(`${pseudo} is no pseudo-class of a browser`);
  }
  return found;
}

interface Part {
  readonly part: string;
  /** The separator before the part; empty for the first one. */
  readonly before: string;
}

/**
 * Splits a text at a separator, outside of quotes and brackets. At a space, it is split at each combinator of CSS.
 * @throws SelectorError for a bracket or a quote that is not closed.
 */
function splitAt(text: string, separator: '>>' | ',' | ' '): readonly Part[] {
  const matcher = separator === ' ' ? /\s*([>+~])\s*|\s+/y : separator === ',' ? /\s*,\s*/y : /\s*>>\s*/y;
  const trimmed = text.trim();
  const parts: Part[] = [];
  const open: string[] = [];
  const isXPathAt = (at: number) => separator === '>>' && XPATH.test(trimmed.slice(at));
  let [start, before] = [0, ''];
  let isXPath = isXPathAt(start);
  for (let at = 0; at < trimmed.length; ) {
    const char = trimmed.charAt(at);
    const closing = open.at(-1);
    const isQuoted = closing === '"' || closing === "'";
    matcher.lastIndex = at;
    const found = closing === undefined && !PLAIN.test(char) ? matcher.exec(trimmed) : null;
    if (found !== null) {
      parts.push({ part: trimmed.slice(start, at), before });
      before = separator === ' ' ? (found[1] ?? ' ') : separator;
      at = start = matcher.lastIndex;
      isXPath = isXPathAt(start);
      continue;
    }
    ESCAPE.lastIndex = at;
    if (char === '\\' && !isXPath) at += ESCAPE.exec(trimmed)?.[0].length ?? 1;
    else at += 1;
    if (char === closing) open.pop();
    else if (!isQuoted && CLOSING[char] !== undefined) open.push(CLOSING[char]);
    else if (!isQuoted && (char === ')' || char === ']')) throw new SelectorError(`${char} closes nothing`);
  }
  if (open.length > 0) throw new SelectorError(`${open.at(-1)} is missing`);
  return [...parts, { part: trimmed.slice(start), before }];
}
