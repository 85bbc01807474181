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
export function refusedByBrowsers(css: string): string | undefined {
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
