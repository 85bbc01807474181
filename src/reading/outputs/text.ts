import { z } from 'zod';
import type { Output } from '../../capture/snapshot.ts';
import { ENTER_TEXT, TEXTS } from './framed-text.ts';
import { BEGIN, readThrough } from './frames.ts';
import { PAINTED, type PaintedLimits } from './painted.ts';
import { JOIN_TEXT } from './painted-text.ts';
import type { Reading } from './reading.ts';

const LIMITS: PaintedLimits = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, ms: 3_000 };

const said = z.object({ text: z.string(), partial: z.boolean() });

/** Reads what the page has painted as plain text, in reading order. */
export async function readText(reading: Reading): Promise<Output> {
  const { ms } = reading;
  const limits = { ...LIMITS, ms: Math.min(LIMITS.ms, ms / 2) };
  const answer = await readThrough(reading, TEXTS, `(${TEXT})(${JSON.stringify(limits)})`, ms);
  const { text, partial } = said.parse(answer);
  return { content: text, partial };
}

/** Runs in the page. */
const TEXT = `(limits) => {
  const found = (${PAINTED})(limits);
  return (${BEGIN})(found, ({ items, partial }) => {
    const text = (${JOIN_TEXT})(items);
    return { text: (text === '' ? '' : text + '\\n').slice(0, limits.characters).toWellFormed(), partial };
  }, (${ENTER_TEXT})(found));
}`;
