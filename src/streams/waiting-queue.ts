/** A first-in, first-out queue that any entry may leave at any time. Every operation is O(1). */
export interface WaitingQueue<T> {
  readonly length: number;
  /** Appends an entry. Returns a function that removes it; without effect when the entry has already left. */
  join(value: T): () => void;
  /** Removes and returns the entry that has waited longest. */
  shift(): T | undefined;
}

interface Entry<T> {
  readonly value: T;
  ahead: Entry<T> | undefined;
  behind: Entry<T> | undefined;
  left: boolean;
}

/**
 * A linked list: removal from the middle of an array is O(n), and a Set scans the holes of all removed entries before
 * it finds its first.
 */
export function createWaitingQueue<T>(): WaitingQueue<T> {
  let first: Entry<T> | undefined;
  let last: Entry<T> | undefined;
  let length = 0;

  const leave = (entry: Entry<T>): void => {
    if (entry.left) {
      return;
    }
    entry.left = true;
    length -= 1;
    if (entry.ahead === undefined) {
      first = entry.behind;
    } else {
      entry.ahead.behind = entry.behind;
    }
    if (entry.behind === undefined) {
      last = entry.ahead;
    } else {
      entry.behind.ahead = entry.ahead;
    }
    // The caller may keep this function for long, so it must not keep the queue alive.
    entry.ahead = undefined;
    entry.behind = undefined;
  };

  return {
    get length() {
      return length;
    },
    join(value) {
      const entry: Entry<T> = { value, ahead: last, behind: undefined, left: false };
      if (last === undefined) {
        first = entry;
      } else {
        last.behind = entry;
      }
      last = entry;
      length += 1;
      return () => leave(entry);
    },
    shift() {
      const entry = first;
      if (entry === undefined) {
        return undefined;
      }
      leave(entry);
      return entry.value;
    },
  };
}
