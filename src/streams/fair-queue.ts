import { createWaitingQueue, type WaitingQueue } from './waiting-queue.ts';

/** A queue in which owners take turns, and the entries of one owner are first in, first out. */
export interface FairQueue<T> {
  readonly length: number;
  /** Appends an entry of an owner. Returns a function that removes it; without effect when it has already left. */
  join(value: T, owner: string | null): () => void;
  /** Removes and returns the oldest entry of the owner whose turn it is. */
  shift(): T | undefined;
}

/** Holds one queue for each owner that waits. Every operation is O(1). */
export function createFairQueue<T>(): FairQueue<T> {
  // In the order of turns: an owner that was served goes to the end.
  const lines = new Map<string | null, WaitingQueue<T>>();
  let length = 0;

  return {
    get length() {
      return length;
    },
    join(value, owner) {
      const line = lines.get(owner) ?? createWaitingQueue<T>();
      lines.set(owner, line);
      const leave = line.join(value);
      length += 1;
      return () => {
        const before = line.length;
        leave();
        length -= before - line.length;
        if (line.length === 0 && lines.get(owner) === line) lines.delete(owner);
      };
    },
    shift() {
      const [next] = lines;
      if (next === undefined) return undefined;
      const [owner, line] = next;
      lines.delete(owner);
      const value = line.shift();
      length -= 1;
      if (line.length > 0) lines.set(owner, line);
      return value;
    },
  };
}
