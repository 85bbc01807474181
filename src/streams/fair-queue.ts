import { defer, filter, map, type Observable, of, Subject, take } from 'rxjs';
import { createWaitingQueue, type WaitingQueue } from './waiting-queue.ts';

/** A queue in which owners take turns, and the entries of one owner are first in, first out. */
export interface FairQueue<T> {
  readonly length: number;
  /** Appends an entry of an owner. Returns a function that removes it; without effect when it has already left. */
  join(value: T, owner: string | null): () => void;
  /** Removes and returns the oldest entry of the owner whose turn it is. */
  shift(): T | undefined;
  /** The same as an Observable: waits for an entry if there is none, emits it and completes. */
  readonly next$: Observable<IteratorYieldResult<T>>;
}

/** Holds one queue for each owner that waits. Every operation is O(1). */
export function createFairQueue<T>(): FairQueue<T> {
  // In the order of turns: an owner that was served goes to the end.
  const lines = new Map<string | null, WaitingQueue<T>>();
  const joined$ = new Subject<null>();
  let length = 0;

  const shift = (): T | undefined => {
    const [next] = lines;
    if (next === undefined) return undefined;
    const [owner, line] = next;
    lines.delete(owner);
    const value = line.shift();
    length -= 1;
    if (line.length > 0) lines.set(owner, line);
    return value;
  };

  return {
    get length() {
      return length;
    },
    join(value, owner) {
      const line = lines.get(owner) ?? createWaitingQueue<T>();
      lines.set(owner, line);
      const leave = line.join(value);
      length += 1;
      joined$.next(null);
      return () => {
        const before = line.length;
        leave();
        length -= before - line.length;
        if (line.length === 0 && lines.get(owner) === line) lines.delete(owner);
      };
    },
    shift,
    // `take` stands before `shift`: what an entry's work adds to the queue must wait for the next subscriber.
    next$: defer(() => (length > 0 ? of(null) : joined$.pipe(take(1)))).pipe(
      map(shift),
      filter((value) => value !== undefined),
      map((value) => ({ value })),
    ),
  };
}
