import { type Observed, observe } from '../observe.ts';
import { readSigns, type Signs } from '../signs/read-signs.ts';

/** Lets the document settle, reads it, and what a verdict is based on. */
export async function run(
  settleMs: number,
  beyondWindow: boolean,
): Promise<Observed & { readonly signs: Signs | null }> {
  const seen = await observe(settleMs, beyondWindow);
  return { ...seen, signs: readSigns() };
}
