import { defer, filter, map, of, Subject, take } from 'rxjs';
import { createWaitingQueue, type WaitingQueue } from './waiting-queue.ts';

/**
 * A queue in which owners take turns. Within an owner, its batches take turns with each other and with the entries that
 * belong to no batch. Entries of a batch are first in, first out. Holds one queue for each owner that waits, with one
 * for each batch. Every operation is O(1), with one step more for each owner that `mayLeave` refuses. `mayLeave`:
 * whether an entry of this owner may leave now.
 */
export function createFairQueue<T>(mayLeave: (owner: string | null) => boolean = () => true) {
  const owners = createRounds<T, Rounds<T, WaitingQueue<T>>>(() => createRounds(createWaitingQueue<T>), mayLeave);
  const joined$ = new Subject<null>();
  let length = 0;

  /** Removes and returns the oldest entry of the owner whose turn it is. */
  const shift = (): T | undefined => {
    if (!owners.hasNext) return undefined;
    length -= 1;
    return owners.shift();
  };

  return {
    get length() {
      return length;
    },
    /** Appends an entry of an owner. Returns a function that removes it; without effect when it has already left. */
    join(value: T, owner: string | null, batch: string | null = null) {
      const batches = owners.line(owner);
      const line = batches.line(batch);
      const leave = line.join(value);
      length += 1;
      joined$.next(null);
      return () => {
        const before = line.length;
        leave();
        length -= before - line.length;
        batches.forget(batch, line);
        owners.forget(owner, batches);
      };
    },
    shift,
    /** Waits until an entry may leave, removes it, emits it and completes. */
    // `take(1)` must come before `shift`: otherwise an entry that joins while this one is handled would be lost.
    next$: defer(() =>
      owners.hasNext
        ? of(null)
        : joined$.pipe(
            filter(() => owners.hasNext),
            take(1),
          ),
    ).pipe(
      map(shift),
      filter((value) => value !== undefined),
      map((value) => ({ value })),
    ),
  };
}

/** A line of entries. Its length is 0 when it has none. */
interface Line<T> {
  readonly length: number;
  shift(): T | undefined;
}

/** Lines by name, which take turns. */
interface Rounds<T, L> extends Line<T> {
  /** Whether `shift` returns an entry. */
  readonly hasNext: boolean;
  /** Returns the line with this name. Makes it the last one if there is none. */
  line(name: string | null): L;
  /** Removes a line if it is empty. */
  forget(name: string | null, line: L): void;
}

function createRounds<T, L extends Line<T>>(
  create: () => L,
  mayLeave: (name: string | null) => boolean = () => true,
): Rounds<T, L> {
  // In the order of turns: a line that was served goes to the end.
  const lines = new Map<string | null, L>();
  const first = () => lines.entries().find(([name]) => mayLeave(name));
  return {
    get hasNext() {
      return first() !== undefined;
    },
    /** Number of lines, none of which is empty. */
    get length() {
      return lines.size;
    },
    line(name) {
      const line = lines.get(name) ?? create();
      lines.set(name, line);
      return line;
    },
    forget(name, line) {
      if (line.length === 0 && lines.get(name) === line) lines.delete(name);
    },
    shift() {
      const next = first();
      if (next === undefined) return undefined;
      const [name, line] = next;
      lines.delete(name);
      const value = line.shift();
      if (line.length > 0) lines.set(name, line);
      return value;
    },
  };
}
