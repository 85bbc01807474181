import { groupByLook } from '../../src/capture/finding/looks.ts';
import type { Result } from '../api/types.ts';

/** Returns the captures that look different from most of the others; none when no look is that of most. */
export function odd<T extends Pick<Result, 'perception_hash'>>(captures: readonly T[]): readonly T[] {
  const [most = [], ...others] = groupByLook(captures);
  return most.length * 2 > captures.length ? others.flat() : [];
}
