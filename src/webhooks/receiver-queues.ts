import { createPlaces } from '../capture/share.ts';

/** The items of one owner for one receiver. */
interface Line<T> {
  readonly waiting: Waiting<T>[];
  underWay: number;
}

interface Waiting<T> {
  readonly item: T;
  /** Gives the item's place back. */
  readonly leave: () => void;
}

export interface ReceiverQueuesOptions<T> {
  /** Does one item of work for a receiver. */
  readonly work: (item: T) => Promise<void>;
  /** Maximum number of concurrent items per receiver and owner. */
  readonly concurrency: number;
  /** Maximum number of items per receiver and owner, running or waiting. */
  readonly maxOfOne: number;
  /** Maximum number of items of all receivers together, which the owners share. */
  readonly maxPending: number;
}

/** One queue per receiver and owner, so that a slow receiver or another owner's items delay nothing else. */
export interface ReceiverQueues<T> {
  readonly pending: number;
  /** Adds an item; false when the queue is full, or the owner has its share. An owner of null has no share. */
  join(receiver: string, owner: string | null, item: T): boolean;
  /** Removes and returns all items that have not been started. */
  clear(): readonly T[];
  /** Resolves when the queues are empty. */
  empty(): Promise<void>;
}

export function createReceiverQueues<T>(options: ReceiverQueuesOptions<T>): ReceiverQueues<T> {
  const { work, concurrency, maxOfOne, maxPending } = options;
  const lines = new Map<string, Line<T>>();
  const places = createPlaces(maxPending);
  let waiters: (() => void)[] = [];

  function settle(): void {
    if (places.taken > 0) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  }

  function proceed(name: string, line: Line<T>): void {
    while (line.underWay < concurrency) {
      const next = line.waiting.shift();
      if (next === undefined) break;
      line.underWay += 1;
      void work(next.item).finally(() => {
        line.underWay -= 1;
        proceed(name, line);
        next.leave();
        settle();
      });
    }
    if (line.underWay === 0) lines.delete(name);
  }

  return {
    get pending() {
      return places.taken;
    },
    join(receiver, owner, item) {
      const name = JSON.stringify([receiver, owner]);
      const line = lines.get(name) ?? { waiting: [], underWay: 0 };
      if (line.waiting.length + line.underWay >= maxOfOne) return false;
      const leave = places.take(owner);
      if (leave === undefined) return false;
      lines.set(name, line);
      line.waiting.push({ item, leave });
      proceed(name, line);
      return true;
    },
    clear() {
      const dropped = [...lines.values()].flatMap(({ waiting }) => waiting.splice(0));
      for (const { leave } of dropped) leave();
      settle();
      return dropped.map(({ item }) => item);
    },
    empty: () => (places.taken === 0 ? Promise.resolve() : new Promise<void>((resolve) => void waiters.push(resolve))),
  };
}
