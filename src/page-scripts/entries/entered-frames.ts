import type { PageElement } from '../dom.ts';
import { keptFrames } from '../extract/entered-frames.ts';

/** Returns the elements of the frames that the last rules have entered. */
export function run(): readonly PageElement[] {
  return keptFrames().elements;
}
