import { z } from 'zod';
import type { Output } from '../../../capture/snapshot.ts';
import { PAINTED, type PaintedLimits } from './painted.ts';
import { JOIN_TEXT } from './painted-text.ts';
import type { Reading } from './reading.ts';

const LIMITS: PaintedLimits = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, ms: 3_000 };

const said = z.object({ text: z.string(), partial: z.boolean() });

/** Reads what the page has painted as plain text, in reading order. */
export async function readText({ ask, ms }: Reading): Promise<Output> {
  const limits = { ...LIMITS, ms: Math.min(LIMITS.ms, ms / 2) };
  const { text, partial } = said.parse(await ask(`(${TEXT})(${JSON.stringify(limits)})`));
  return { content: text, partial };
}

/** Runs in the page. */
const TEXT = `(limits) => {
  const { items, partial } = (${PAINTED})(limits);
  const text = (${JOIN_TEXT})(items);
  return { text: (text === '' ? '' : text + '\\n').slice(0, limits.characters).toWellFormed(), partial };
}`;
