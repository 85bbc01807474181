import type { LeftOut } from '../capture/work/scan.ts';

/** An item that a parser finds in a list, in the order of the list. */
export type Found =
  /** A target as a line of a list writes it. `line`: where it is, from 1. */
  | { readonly line: number; readonly target: string }
  /** Left out: `reason` is the same for all of a kind, `problem` is about this one. Null when it is expected. */
  | { readonly line: number; readonly text: string; readonly reason: LeftOut; readonly problem: string | null };
