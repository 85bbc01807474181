/** A first-in, first-out queue that any entry may leave at any time. Every operation is O(1), amortised. */
export interface WaitingQueue<T> {
  readonly length: number;
  /** Appends an entry. Returns a function that removes it; without effect when the entry has already left. */
  join(value: T): () => void;
  /** Removes and returns the entry that has waited longest. */
  shift(): T | undefined;
}

/** Keyed by a running number, because finding the first key of a Map scans the holes of all removed entries. */
export function createWaitingQueue<T>(): WaitingQueue<T> {
  const waiting = new Map<number, T>();
  let head = 0;
  let next = 0;
  return {
    get length() {
      return waiting.size;
    },
    join(value) {
      const number = next;
      next += 1;
      waiting.set(number, value);
      return () => void waiting.delete(number);
    },
    shift() {
      if (waiting.size === 0) return undefined;
      while (!waiting.has(head)) head += 1;
      const value = waiting.get(head);
      waiting.delete(head);
      head += 1;
      return value;
    },
  };
}
