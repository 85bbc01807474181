import type { Work } from './driver.ts';

/** A program that captures pages, and how to start it. */
export interface Contender {
  readonly name: string;
  start(): Promise<Running>;
}

/** A running contender: a process tree of its own. */
export interface Running {
  /** Process id of the root of its process tree. */
  readonly pid: number;
  /** Captures each URL once, `concurrency` at a time. Rejects when a capture fails. */
  run(urls: readonly string[], concurrency: number): Promise<Work>;
  /** Stops the contender and leaves no process behind. */
  stop(): Promise<void>;
}
