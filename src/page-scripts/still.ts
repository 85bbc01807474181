import { kept } from './kept.ts';
import type { Watch } from './watch-changes.ts';

/** The watch over a page that looked still, and the time at which it began to look so. */
export interface StillWatch {
  beginning: number;
  changes?: Watch;
}

export const keptWatch = (): StillWatch => kept<StillWatch>('still', () => ({ beginning: 0 }));
