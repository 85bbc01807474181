import { z } from 'zod';
import type { Output } from '../../capture/result/snapshot.ts';
import { call } from '../../page/asking/page-scripts.ts';
import { TEXTS } from '../documents/framed-text.ts';
import { MAX_FRAMES, readThrough } from '../documents/frames.ts';
import type { Reading } from '../documents/reading.ts';

const LIMITS = { nodes: 500_000, characters: 2 * 1024 * 1024, hidden: 0, frames: MAX_FRAMES };
const MAX_MS = 3_000;

const said = z.object({ text: z.string(), partial: z.boolean() });

/** Reads what the page has painted as plain text, in reading order. */
export async function readText(reading: Reading): Promise<Output> {
  const { ms } = reading;
  const script = call('readText', { ...LIMITS, ms: Math.min(MAX_MS, ms / 2) });
  const { text, partial } = said.parse(await readThrough(reading, TEXTS, script, ms));
  return { content: text, partial };
}
