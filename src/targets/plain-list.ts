import type { Found } from './found.ts';
import { linesOf } from './line-reader.ts';

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
