import { nextPart } from '../in-parts.ts';

/** Returns part `at` of the text with this key. */
export function run(key: number, at: number): string | undefined {
  return nextPart(key, at);
}
