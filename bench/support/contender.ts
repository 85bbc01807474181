import type { Work } from './driver.ts';

/** Somebody who captures pages, and how to get hold of one. */
export interface Contender {
  readonly name: string;
  start(): Promise<Running>;
}

/** A contender at work: a process tree of its own. */
export interface Running {
  /** Root of the process tree that does the work. */
  readonly pid: number;
  /** Captures each URL once, `concurrency` of them at a time. Rejects when one fails. */
  run(urls: readonly string[], concurrency: number): Promise<Work>;
  /** Leaves no process behind. */
  stop(): Promise<void>;
}
