/** The value of a Python literal: None is null, tuples and lists are arrays, dicts are objects. */
export type PythonValue =
  | string
  | number
  | boolean
  | null
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

const DEEPEST = 64;
const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
const WORD = /[A-Za-z_]+/y;
const SPACE = /\s*/y;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|\r?\n|([\s\S]))/y;
const CONSTANTS = new Map<string, PythonValue>([
  ['True', true],
  ['False', false],
  ['None', null],
]);
const ESCAPED = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
]);

/**
 * Parses a Python literal of dicts, lists, tuples, strings, numbers, True, False and None, as `repr` writes them.
 *
 * @throws SyntaxError when the text is anything else, or nested deeper than 64 levels.
 */
export function parsePythonLiteral(text: string): PythonValue {
  let at = 0;

  const fail = (): never => {
    throw new SyntaxError(`Not a Python literal (at character ${at}).`);
  };

  /** Matches a sticky pattern at the current position, and moves past the match; null without a match. */
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  const take = (character: string): boolean => {
    match(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };

  const readString = (): string => {
    const quote = text[at];
    at += 1;
    let value = '';
    for (;;) {
      const character = text[at];
      if (character === undefined || character === '\n') return fail();
      if (character === quote) {
        at += 1;
        return value;
      }
      if (character === '\\') {
        value += readEscape();
      } else {
        value += character;
        at += 1;
      }
    }
  };

  const readEscape = (): string => {
    const found = match(ESCAPE);
    if (found === null) return fail();
    const [whole, byte, short, long, octal, plain] = found;
    const hex = byte ?? short ?? long;
    const codePoint =
      hex !== undefined ? Number.parseInt(hex, 16) : octal !== undefined ? Number.parseInt(octal, 8) : -1;
    if (codePoint > 0x10ffff) return fail();
    if (codePoint >= 0) return String.fromCodePoint(codePoint);
    if (plain === undefined) return '';
    // Python keeps the backslash of an unknown escape.
    return ESCAPED.get(plain) ?? ('\'"\\'.includes(plain) ? plain : whole);
  };

  const readItems = (close: string, depth: number): PythonValue[] => {
    const items: PythonValue[] = [];
    while (!take(close)) {
      items.push(readValue(depth));
      if (!take(',')) {
        if (take(close)) break;
        fail();
      }
    }
    return items;
  };

  const readDict = (depth: number): PythonValue => {
    const entries: [string, PythonValue][] = [];
    while (!take('}')) {
      const key = readValue(depth);
      if (typeof key === 'object' || !take(':')) return fail();
      entries.push([String(key), readValue(depth)]);
      if (!take(',')) {
        if (take('}')) break;
        fail();
      }
    }
    return Object.fromEntries(entries);
  };

  const readValue = (depth: number): PythonValue => {
    if (depth > DEEPEST) fail();
    if (take('{')) return readDict(depth + 1);
    if (take('[')) return readItems(']', depth + 1);
    if (take('(')) return readItems(')', depth + 1);
    if (text[at] === "'" || text[at] === '"') return readString();
    const number = match(NUMBER);
    if (number !== null) return Number(number[0]);
    const [word = ''] = match(WORD) ?? [];
    // Python 2 writes u'...'.
    if (word === 'u' && (text[at] === "'" || text[at] === '"')) return readString();
    return CONSTANTS.get(word) ?? (word === 'None' ? null : fail());
  };

  const value = readValue(0);
  match(SPACE);
  return at === text.length ? value : fail();
}
