import { z } from 'zod';
import type { Output } from '../../../capture/snapshot.ts';
import { PAINTED, type PaintedLimits } from './painted.ts';
import type { Reading } from './reading.ts';

const LIMITS: PaintedLimits = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, ms: 3_000 };

const said = z.object({ text: z.string(), partial: z.boolean() });

/** Reads what the page has painted as plain text, in reading order. */
export async function readText({ ask, ms }: Reading): Promise<Output> {
  const limits = { ...LIMITS, ms: Math.min(LIMITS.ms, ms / 2) };
  const { text, partial } = said.parse(await ask(`(${TEXT})(${JSON.stringify(limits)})`));
  return { content: text, partial };
}

/** Runs in the page. Joins the painted text; gaps are at most one empty line. */
const TEXT = `(limits) => {
  const { items, partial } = (${PAINTED})(limits);
  const parts = [];
  let [isAfterSpace, gap] = [true, ''];
  for (const item of items) {
    if (item.gap !== undefined) {
      if (parts.length > 0) gap = item.gap;
      isAfterSpace = true;
      continue;
    }
    if (item.text === undefined) continue;
    const text = isAfterSpace && !item.isPre ? item.text.trimStart() : item.text;
    if (text === '') continue;
    if (gap !== '') parts.push(gap);
    gap = '';
    parts.push(text);
    isAfterSpace = !item.isPre && text.endsWith(' ');
  }
  // Not by looking ahead in the expression, which takes quadratic time for many spaces.
  const isAtEnd = (next) => next === undefined || next === '\\n' || next === '\\t';
  const text = parts.join('').replace(/ +/g, (run, at, whole) => (isAtEnd(whole[at + run.length]) ? '' : run));
  return { text: (text === '' ? '' : text.trimEnd() + '\\n').slice(0, limits.characters).toWellFormed(), partial };
}`;
