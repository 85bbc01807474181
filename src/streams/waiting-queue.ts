/** A first-in, first-out line that anyone in it may leave from any place. Every operation is O(1). */
export interface WaitingQueue<T> {
  readonly length: number;
  /** Joins at the end. What it returns leaves the line; it does nothing when that has happened already. */
  join(value: T): () => void;
  /** Takes out whoever has waited longest. */
  shift(): T | undefined;
}

interface Place<T> {
  readonly value: T;
  ahead: Place<T> | undefined;
  behind: Place<T> | undefined;
  left: boolean;
}

/**
 * Linked by hand: an array pays for every place that somebody leaves from the middle, and a Set walks over the
 * holes of all that left before it finds its first.
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
    // Somebody may hold on to the place for long: it must not hold on to the line.
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
