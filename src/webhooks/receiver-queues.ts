/** Work for one receiver, of which so much is done at once. */
interface Line<T> {
  readonly waiting: T[];
  underWay: number;
}

export interface ReceiverQueuesOptions<T> {
  readonly work: (item: T) => Promise<void>;
  /** Items of one receiver that are worked on at once. */
  readonly concurrency: number;
  /** Items of one receiver that are worked on or wait. */
  readonly maxOfOne: number;
  /** The same of all receivers together. */
  readonly most: number;
}

/** A line for each receiver, so that a slow one is waited for by its own items alone. */
export interface ReceiverQueues<T> {
  readonly pending: number;
  /** False when there is no room for it. */
  join(receiver: string, item: T): boolean;
  /** Takes out all that nobody works on yet. */
  clear(): readonly T[];
  /** Resolves when nothing is left. */
  empty(): Promise<void>;
}

export function createReceiverQueues<T>(options: ReceiverQueuesOptions<T>): ReceiverQueues<T> {
  const { work, concurrency, maxOfOne, most } = options;
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
      if (pending >= most || line.waiting.length + line.underWay >= maxOfOne) return false;
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
