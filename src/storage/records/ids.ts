/*
 * Ids of captures. They are safe integers in JSON (53 bits), are known before any store is asked, and sort by time.
 *
 *   41 bits of milliseconds since 2024-01-01T00:00Z (until 2093) | 6 bits of node | 6 bits of sequence
 *
 * Nodes 0..31 are leased from the store that the processes share (see storage/documents/nodes.ts); 32..63 are drawn at
 * random by a process that has no lease.
 */

const EPOCH_MS = Date.UTC(2024, 0, 1);
const SEQUENCES = 64;
export const NODES = 64;
/** Nodes below this number are leased, the others drawn at random. */
export const LEASED_NODES = 32;
/**
 * Difference between the ids of successive milliseconds. Ids exceed 2^32, so arithmetic is used in place of bit
 * operators.
 */
const IDS_PER_MS = NODES * SEQUENCES;

interface IdSourceOptions {
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** 0 to 63. */
  readonly node: number;
}

export interface IdSource {
  readonly node: number;
  /** Returns the next id, greater than every earlier one of this source even when the clock steps back. */
  next(): number;
  /** Uses this node for new ids. */
  setNode(node: number): void;
}

/**
 * Returns the id source of one process. When the 64 ids of a millisecond are used up, or the clock stands still or
 * steps back, ids run ahead of the clock.
 */
export function createIdSource({ clock, node }: IdSourceOptions): IdSource {
  let currentNode = checkedNode(node);
  let lastMs = -1;
  let sequence = 0;

  return {
    get node() {
      return currentNode;
    },
    next() {
      const ms = Math.max(Math.floor(clock()) - EPOCH_MS, 0);
      if (ms > lastMs) {
        lastMs = ms;
        sequence = 0;
      } else if (sequence + 1 < SEQUENCES) {
        sequence += 1;
      } else {
        lastMs += 1;
        sequence = 0;
      }
      return lastMs * IDS_PER_MS + currentNode * SEQUENCES + sequence;
    },
    setNode(next) {
      if (next === currentNode) return;
      currentNode = checkedNode(next);
      // A smaller node in the same millisecond would decrease the id, so the next id moves to the next millisecond.
      sequence = SEQUENCES;
    },
  };
}

/** Returns a node for a process without a lease: 32 to 63. `random` returns 0 <= x < 1. */
export function randomNode(random: () => number): number {
  return LEASED_NODES + Math.floor(random() * (NODES - LEASED_NODES));
}

/** Returns the time of an id, to the millisecond. */
export function timeOfId(id: number): Date {
  return new Date(Math.floor(id / IDS_PER_MS) + EPOCH_MS);
}

/** Returns the smallest id of a time. */
export function firstIdAt(time: Date): number {
  return Math.max(time.getTime() - EPOCH_MS, 0) * IDS_PER_MS;
}

/** Parses an id: a positive integer below 2^53 in canonical digits, else undefined. */
export function parseId(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}

function checkedNode(node: number): number {
  if (!Number.isInteger(node) || node < 0 || node >= NODES) {
    throw new RangeError(`node is ${node}; it takes an integer from 0 to ${NODES - 1}`);
  }
  return node;
}
