import { z } from 'zod';
import type { Output } from '../../capture/result/snapshot.ts';
import { call, type ResultOf } from '../../page/asking/page-scripts.ts';
import type { Reading } from '../documents/reading.ts';

/** Maximum time in milliseconds, and its share of the time for the output. */
const MAX_MS = 3_000;
const SHARE = 0.5;
const LIMITS = {
  characters: 1024 * 1024,
  textCharacters: 16 * 1024,
  elements: 1_000,
  properties: 10_000,
  levels: 50,
};

const answered: z.ZodType<ResultOf<'readMetadata'>> = z.object({ json: z.string(), partial: z.boolean() });

/** Reads what the page says about itself to machines; visitors do not see it. */
export async function readMetadata({ ask, ms }: Reading): Promise<Output> {
  const limits = { ...LIMITS, ms: Math.min(MAX_MS, ms * SHARE) };
  const { json, partial } = answered.parse(await ask(call('readMetadata', limits)));
  return { content: `${json}\n`, partial };
}
