import { comparable } from '../../words/comparable.ts';

/** A line as it is shown, and as it is compared: without what is ignored. */
export interface Line {
  readonly shown: string;
  readonly words: string;
}

/** Returns a line without the parts that match one of the patterns, in which `*` stands for any characters. */
export function lineOf(line: string, patterns: readonly string[]): Line {
  const words = comparable(line);
  const rest = withoutTexts(words, patterns.map(comparable));
  // The line is shown as the page has it, unless a part is missing.
  return rest === words ? { shown: line.trim(), words } : { shown: rest.trim(), words: comparable(rest) };
}

/** Takes linear time, which a regular expression of a client would not. */
function withoutTexts(line: string, patterns: readonly string[]): string {
  return patterns.reduce(without, line);
}

function without(line: string, pattern: string): string {
  const parts = pattern.split('*');
  let rest = '';
  let from = 0;
  for (let found = find(line, parts, from); found !== undefined; found = find(line, parts, from)) {
    rest += line.slice(from, found.start);
    from = found.end;
  }
  return rest + line.slice(from);
}

/** Finds the first match with any characters in it; undefined at the end of the line. */
function find(line: string, parts: readonly string[], from: number) {
  if (from === line.length) return undefined;
  const [first = '', ...others] = parts;
  const start = line.indexOf(first, from);
  if (start < 0) return undefined;
  let end = start + first.length;
  for (const [at, part] of others.entries()) {
    if (part === '' && at === others.length - 1) return { start, end: line.length };
    const next = line.indexOf(part, end);
    if (next < 0) return undefined;
    end = next + part.length;
  }
  return { start, end };
}
