import type { PageElement } from '../dom.ts';
import { framesOf } from '../painted/after-frames.ts';

/** Returns the elements of the frames that a reading waits for. */
export function run(key: number): readonly PageElement[] {
  return framesOf(key);
}
