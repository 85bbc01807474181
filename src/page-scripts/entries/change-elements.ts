import { type Change, changeElements, type Wanted } from '../changes/change.ts';

/** Hides, masks or otherwise changes elements. Returns true. */
export function run(wanted: readonly Wanted[], change: Change): true {
  changeElements(wanted, change);
  return true;
}
