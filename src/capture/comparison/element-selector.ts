import { compile } from 'css-select';
import { errorText } from '../basics/error-text.ts';
import { REQUEST_LIMITS } from '../request-limits.ts';
import { MAX_SELECTOR_CHARACTERS, parseSelector, SelectorError } from './selector.ts';

/** Maximum depth of nested groups, such as `:is(:not(...))`: their cost grows with the square of the depth. */
const MAX_NESTED = 10;
/**
 * Maximum number of characters of a list of selectors, of which each pseudo-class counts as the selector that it stands
 * for.
 */
export const MAX_LIST_CHARACTERS = REQUEST_LIMITS.selectors.max;

/** Selectors that css-select takes from jQuery, or from the prototype of its table, and browsers refuse. */
const UNKNOWN_TO_BROWSERS =
  /(?<!\\)(?::(?:button|checkbox|constructor|contains|file|header|icontains|image|input|matches|parent|password|radio|reset|selected|submit|text)(?![\w-])|!=)/i;

const CONTROL = ':is(button, input, select, textarea, optgroup, option, fieldset)';
const ofTypes = (types: string) =>
  types
    .split(' ')
    .map((type) => `[type=${type} i]`)
    .join(', ');
const NEVER_REQUIRED = ofTypes('hidden image button submit reset color range');
const UNTYPED = `${ofTypes('checkbox radio file')}, ${NEVER_REQUIRED}`;

/** Pseudo-classes of HTML, as selectors of attributes. css-select 7 defines some of them otherwise. */
export const PSEUDO_CLASSES: Readonly<Record<string, string>> = {
  'any-link': ':is(a, area)[href]',
  link: ':any-link',
  checked:
    ':is(input:is([type=radio], [type=checkbox])[checked], option[selected], select:not([multiple], :has(> option[selected])) > option:first-of-type)',
  required: `:is(input:not(${NEVER_REQUIRED}), select, textarea)[required]`,
  optional: ':is(button, input, select, textarea):not(:required)',
  disabled: `:is(${CONTROL}[disabled], optgroup[disabled] > option, fieldset[disabled] :is(button, input, select, textarea, fieldset):not(fieldset[disabled] > legend:first-of-type *))`,
  enabled: `${CONTROL}:not(:disabled)`,
  'read-write': `:is(:is(textarea, input:not(${UNTYPED})):not([readonly], :disabled), [contenteditable]:not([contenteditable=false i]), [contenteditable]:not([contenteditable=false i]) :not([contenteditable=false i], [contenteditable=false i] *, input, textarea))`,
  'read-only': ':not(:read-write, svg, svg *, math, math *)',
};

/**
 * Parses a selector of elements in an element map: CSS, in steps separated by `>>`, each of which enters frames.
 * @throws SelectorError
 */
export function elementSteps(text: string): readonly string[] {
  return parseSelector(text).map((step) => {
    if ('xpath' in step) throw new SelectorError('XPath is not accepted here: use CSS');
    const [part] = UNKNOWN_TO_BROWSERS.exec(step.css.replaceAll(/"[^"]*"|'[^']*'/g, '""')) ?? [];
    if (part !== undefined) throw new SelectorError(`${part} is nothing that browsers know`);
    try {
      compile(step.css, { pseudos: PSEUDO_CLASSES });
    } catch (error) {
      const message = errorText(error);
      const [, unknown] = /^Unknown pseudo-class (:[\w-]+)/.exec(message) ?? [];
      throw new SelectorError(
        unknown === undefined ? message : `${unknown} is no pseudo-class that can be told from an element map`,
      );
    }
    const rest = refusedByBrowsers(step.css);
    if (rest !== undefined) throw new SelectorError(`it cannot be read from ${JSON.stringify(rest)} on`);
    return step.css;
  });
}

/** Returns why selectors of elements are not accepted. They are not read when reading them would take long. */
export function problemsOfSelectors(selectors: readonly string[]): readonly string[] {
  const costly = problemOfCost(selectors);
  if (costly !== undefined) return [costly];
  return selectors.flatMap((selector) => {
    try {
      elementSteps(selector);
      return [];
    } catch (error) {
      return `must have CSS selectors, not ${JSON.stringify(selector.slice(0, 100))}: ${errorText(error)}`;
    }
  });
}

function problemOfCost(selectors: readonly string[]): string | undefined {
  let characters = 0;
  for (const selector of selectors) {
    if (selector.length > MAX_SELECTOR_CHARACTERS) {
      return `must have selectors of at most ${MAX_SELECTOR_CHARACTERS} characters`;
    }
    const syntax = syntaxOf(selector);
    if (levelsOf(syntax) > MAX_NESTED) {
      const shown = JSON.stringify(selector.slice(0, 100));
      return `must have selectors of at most ${MAX_NESTED} nested groups, not ${shown}`;
    }
    characters += selector.length + lengthOfPseudoClasses(syntax);
    if (characters > MAX_LIST_CHARACTERS) {
      return `must have selectors of at most ${MAX_LIST_CHARACTERS} characters together, where pseudo-classes such as :disabled count as the selectors that they stand for`;
    }
  }
  return undefined;
}

const QUOTED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs;
/** A backslash and what it escapes: up to 6 hexadecimal digits and a space, or one character. */
const ESCAPED = /\\(?:([\da-f]{1,6})\s?|(.))/gis;

/**
 * Returns a selector without quoted texts, and without escapes: only letters and `-` are syntax when they are escaped.
 */
function syntaxOf(selector: string): string {
  return selector.replaceAll(QUOTED, '').replaceAll(ESCAPED, (_, code: string | undefined, character: string) => {
    const meant = code === undefined ? character : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
    return /[a-z-]/i.test(meant) ? meant : '_';
  });
}

function levelsOf(syntax: string): number {
  let [levels, most] = [0, 0];
  for (const [bracket] of syntax.matchAll(/[()]/g)) {
    levels = bracket === '(' ? levels + 1 : Math.max(0, levels - 1);
    most = Math.max(most, levels);
  }
  return most;
}

/** Returns the number of characters that the pseudo-classes of a selector stand for. */
function lengthOfPseudoClasses(syntax: string): number {
  let length = 0;
  for (const [, name = ''] of syntax.matchAll(/:([a-z-]+)/gi)) length += lengthOfPseudoClass(name.toLowerCase());
  return length;
}

const lengths = new Map<string, number>();

function lengthOfPseudoClass(name: string): number {
  const written = Object.hasOwn(PSEUDO_CLASSES, name) ? PSEUDO_CLASSES[name] : undefined;
  if (written === undefined) return 0;
  const length = lengths.get(name) ?? written.length + lengthOfPseudoClasses(written);
  lengths.set(name, length);
  return length;
}

/* Selectors that css-select accepts and browsers refuse. css-select reports those that it refuses itself. */

/** With one way to read each text: names of many escapes would take long otherwise. */
const ESCAPE = '\\\\(?:(?:[\\da-f]{6}|[\\da-f]{1,5}(?![\\da-f]))\\s?|[^\\n\\da-f])';
const LETTER = `[a-z_]|[^\\0-\\x7f]|${ESCAPE}`;
const NAME = `(?:--|-?(?:${LETTER}))(?:${LETTER}|[\\d-])*`;
const STRING = `"(?:\\\\[^]|[^"\\\\\\n])*"|'(?:\\\\[^]|[^'\\\\\\n])*'`;

/** The parts of a selector, also of those in groups. */
const TOKEN = new RegExp(
  [
    `\\[\\s*\\|?${NAME}\\s*(?:[~|^$*]?=\\s*(?:${NAME}|${STRING})\\s*i?\\s*)?\\]`,
    `[.#]${NAME}`,
    `:lang\\(\\s*${NAME}\\s*\\)`,
    `:nth-[a-z-]+\\([^()]*?(?:\\)|\\s(?<group>of)\\s)`,
    `:(?<group>has)\\(\\s*[>+~]?`,
    `:(?<group>is|where|not)\\((?!\\s*[>+~])`,
    `:${NAME}(?![\\w(-])`,
    // A type comes first.
    `(?<=^|[\\s>+~,(])(?:${NAME}|(?:\\*\\|)?\\*)`,
    `\\s*[>+~,]\\s*|\\s+`,
    `\\)`,
  ].join('|'),
  'iy',
);

/** Returns the rest of a selector from where Chromium would refuse it; undefined for one that it accepts. */
function refusedByBrowsers(css: string): string | undefined {
  const selector = css.trim();
  const open: string[] = [];
  for (let at = 0; at < selector.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(selector);
    const group = found?.groups?.group?.toLowerCase();
    if (found === null || (group === 'has' && open.includes('has'))) return selector.slice(at);
    if (group !== undefined) open.push(group);
    if (found[0] === ')') open.pop();
  }
  return undefined;
}
