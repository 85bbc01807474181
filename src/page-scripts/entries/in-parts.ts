import { inParts, type TextBeginning } from '../in-parts.ts';

/** Returns the beginning of the JSON of a value. */
export async function run(value: unknown): Promise<TextBeginning> {
  return inParts(JSON.stringify((await value) ?? null));
}
