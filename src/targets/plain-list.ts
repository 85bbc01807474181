import type { Found } from './found.ts';

/** Finds the targets of a text with one target on each line. A comment begins with `#`, alone or after a blank. */
export async function* plainList(texts: AsyncIterable<string>): AsyncGenerator<readonly Found[], void, undefined> {
  for await (const lines of linesOf(texts)) {
    const found: Found[] = [];
    for (const { line, text, isCut } of lines) {
      const target = unquoted(withoutComment(text).trim());
      if (target === '') continue;
      if (isCut) found.push({ line, text: target, reason: 'invalid', problem: 'is too long for a target' });
      else found.push({ line, target });
    }
    yield found;
  }
}

function withoutComment(text: string): string {
  return text.includes('#') ? text.replace(/(?:^|\s)#.*$/s, '') : text;
}

/** Removes quotes, angle brackets, and the comma of a list that was part of a program or a text. */
function unquoted(text: string): string {
  return /^["'<](.*)["'>],?$/.exec(text)?.[1] ?? (text.endsWith(',') ? text.slice(0, -1) : text);
}

/** A line of a text, numbered from 1. `isCut`: it was longer than the limit. */
interface NumberedLine {
  readonly line: number;
  readonly text: string;
  readonly isCut: boolean;
}

/** Maximum length of a line, in characters: a URL of the maximum length, with a comment. */
const MAX_LINE_CHARACTERS = 16 * 1024;

/**
 * Generates the lines of a text, which end with LF, CRLF or CR: those of each piece of it together. Holds a piece and
 * one line in memory, of bounded length.
 */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<readonly NumberedLine[], void, undefined> {
  let line = 1;
  let held = '';
  let isCut = false;
  let endedWithCr = false;
  const add = (piece: string): void => {
    held += piece;
    if (held.length <= MAX_LINE_CHARACTERS) return;
    held = held.slice(0, MAX_LINE_CHARACTERS);
    isCut = true;
  };
  for await (const text of texts) {
    const lines: NumberedLine[] = [];
    // The line feed of a CRLF that two pieces share.
    let from = endedWithCr && text.startsWith('\n') ? 1 : 0;
    let lf = placeOf('\n', text, from);
    let cr = placeOf('\r', text, from);
    for (let end = Math.min(lf, cr); end < text.length; end = Math.min(lf, cr)) {
      add(text.slice(from, end));
      lines.push({ line, text: held, isCut });
      line += 1;
      held = '';
      isCut = false;
      from = end + (lf === cr + 1 ? 2 : 1);
      if (lf < from) lf = placeOf('\n', text, from);
      if (cr < from) cr = placeOf('\r', text, from);
    }
    add(text.slice(from));
    endedWithCr = text.endsWith('\r');
    yield lines;
  }
  if (held !== '') yield [{ line, text: held, isCut }];
}

/** Returns where a character is, from a position on; the length of the text when it is not there. */
function placeOf(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}
