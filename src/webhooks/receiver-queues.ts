/** The items of one receiver. */
interface Line<T> {
  readonly waiting: T[];
  underWay: number;
}

export interface ReceiverQueuesOptions<T> {
  /** Does one item of work for a receiver. */
  readonly work: (item: T) => Promise<void>;
  /** Maximum number of concurrent items per receiver. */
  readonly concurrency: number;
  /** Maximum number of items per receiver, running or waiting. */
  readonly maxOfOne: number;
  /** Maximum number of items of all receivers together. */
  readonly maxPending: number;
}

/** One queue per receiver, so that a slow receiver delays only its own items. */
export interface ReceiverQueues<T> {
  readonly pending: number;
  /** Adds an item; false when the queue is full. */
  join(receiver: string, item: T): boolean;
  /** Removes and returns all items that have not been started. */
  clear(): readonly T[];
  /** Resolves when the queues are empty. */
  empty(): Promise<void>;
}

export function createReceiverQueues<T>(options: ReceiverQueuesOptions<T>): ReceiverQueues<T> {
  const { work, concurrency, maxOfOne, maxPending } = options;
  const lines = new Map<string, Line<T>>();
  let pending = 0;
  let waiters: (() => void)[] = [];

  function settle(count: number): void {
    pending -= count;
    if (pending > 0) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  }

  function proceed(receiver: string, line: Line<T>): void {
    while (line.underWay < concurrency) {
      const item = line.waiting.shift();
      if (item === undefined) break;
      line.underWay += 1;
      void work(item).finally(() => {
        line.underWay -= 1;
        proceed(receiver, line);
        settle(1);
      });
    }
    if (line.underWay === 0) lines.delete(receiver);
  }

  return {
    get pending() {
      return pending;
    },
    join(receiver, item) {
      const line = lines.get(receiver) ?? { waiting: [], underWay: 0 };
      if (pending >= maxPending || line.waiting.length + line.underWay >= maxOfOne) return false;
      lines.set(receiver, line);
      pending += 1;
      line.waiting.push(item);
      proceed(receiver, line);
      return true;
    },
    clear() {
      const items = [...lines.values()].flatMap(({ waiting }) => waiting.splice(0));
      settle(items.length);
      return items;
    },
    empty: () => (pending === 0 ? Promise.resolve() : new Promise<void>((resolve) => void waiters.push(resolve))),
  };
}
