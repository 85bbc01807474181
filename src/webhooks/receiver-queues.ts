import pLimit, { type LimitFunction } from 'p-limit';
import { createPlaces } from '../capture/share.ts';

export interface ReceiverQueuesOptions {
  /** Maximum number of concurrent items per receiver and owner. */
  readonly concurrency: number;
  /** Maximum number of items per receiver and owner, running or waiting. */
  readonly maxOfOne: number;
  /** Maximum number of items of all receivers together, which the owners share. */
  readonly maxPending: number;
}

export type ReceiverQueues = ReturnType<typeof createReceiverQueues>;

/** One queue per receiver and owner, so that a slow receiver or another owner's items delay nothing else. */
export function createReceiverQueues({ concurrency, maxOfOne, maxPending }: ReceiverQueuesOptions) {
  const queues = new Map<string, { readonly inTurn: LimitFunction; items: number }>();
  const places = createPlaces(() => maxPending);
  const pending = new Set<Promise<void>>();

  return {
    get pending() {
      return pending.size;
    },
    /**
     * Adds work, which never rejects; false when the queue is full, or the owner has its share. An owner of null has no
     * share.
     */
    join(receiver: string, owner: string | null, work: () => Promise<void>): boolean {
      const name = JSON.stringify([receiver, owner]);
      const queue = queues.get(name) ?? { inTurn: pLimit(concurrency), items: 0 };
      if (queue.items >= maxOfOne) return false;
      const leave = places.take(owner);
      if (leave === undefined) return false;
      queue.items += 1;
      queues.set(name, queue);
      const done = queue.inTurn(work).finally(() => {
        leave();
        pending.delete(done);
        queue.items -= 1;
        if (queue.items === 0) queues.delete(name);
      });
      pending.add(done);
      return true;
    },
    /** Resolves when the queues are empty. */
    async empty(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
