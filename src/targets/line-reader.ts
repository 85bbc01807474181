/** A line of a text, numbered from 1. `isCut`: it was longer than the limit. */
export interface NumberedLine {
  readonly line: number;
  readonly text: string;
  readonly isCut: boolean;
}

/** Maximum length of a line, in characters: a URL of the maximum length, with a comment. */
const MAX_LINE_CHARACTERS = 16 * 1024;

/** Generates the lines of a text, which end with LF, CRLF or CR. Holds one line in memory, of bounded length. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<NumberedLine, void, undefined> {
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
    let from = 0;
    // The line feed of a CRLF that two pieces share.
    if (endedWithCr && text.startsWith('\n')) from = 1;
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      if (end.index < from) continue;
      add(text.slice(from, end.index));
      yield { line, text: held, isCut };
      line += 1;
      held = '';
      isCut = false;
      from = end.index + end[0].length;
    }
    add(text.slice(from));
    endedWithCr = text.endsWith('\r');
  }
  if (held !== '') yield { line, text: held, isCut };
}
