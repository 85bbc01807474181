import type { Found } from './found.ts';
import { linesOf } from './line-reader.ts';

/** Finds the targets of a text with one target on each line. A comment begins with `#`, alone or after a blank. */
export async function* plainList(texts: AsyncIterable<string>): AsyncGenerator<Found, void, undefined> {
  for await (const { line, text, isCut } of linesOf(texts)) {
    const target = text.replace(/(?:^|\s)#.*$/s, '').trim();
    if (target === '') continue;
    if (isCut) yield { line, text: target, reason: 'invalid', problem: 'is too long for a target' };
    else yield { line, target };
  }
}
