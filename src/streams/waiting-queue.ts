/** A first-in, first-out queue that any entry may leave at any time. Every operation is O(1). */
export interface WaitingQueue<T> {
  readonly length: number;
  /** Appends an entry. Returns a function that removes it; without effect when the entry has already left. */
  join(value: T): () => void;
  /** Removes and returns the entry that has waited longest. */
  shift(): T | undefined;
}

interface Place<T> {
  readonly value: T;
  ahead: Place<T> | undefined;
  behind: Place<T> | undefined;
  left: boolean;
}

/**
 * A linked list: removal from the middle of an array is O(n), and a Set scans the holes of all removed entries before
 * it finds its first.
 */
export function createWaitingQueue<T>(): WaitingQueue<T> {
  let first: Place<T> | undefined;
  let last: Place<T> | undefined;
  let length = 0;

  const leave = (place: Place<T>): void => {
    if (place.left) {
      return;
    }
    place.left = true;
    length -= 1;
    if (place.ahead === undefined) {
      first = place.behind;
    } else {
      place.ahead.behind = place.behind;
    }
    if (place.behind === undefined) {
      last = place.ahead;
    } else {
      place.behind.ahead = place.ahead;
    }
    // The caller may keep this function for long, so it must not keep the queue alive.
    place.ahead = undefined;
    place.behind = undefined;
  };

  return {
    get length() {
      return length;
    },
    join(value) {
      const place: Place<T> = { value, ahead: last, behind: undefined, left: false };
      if (last === undefined) {
        first = place;
      } else {
        last.behind = place;
      }
      last = place;
      length += 1;
      return () => leave(place);
    },
    shift() {
      const place = first;
      if (place === undefined) {
        return undefined;
      }
      leave(place);
      return place.value;
    },
  };
}
