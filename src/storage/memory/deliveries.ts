import { deliveriesIn } from '../documents/deliveries.ts';
import type { DeliveryStore } from '../ports/delivery-store.ts';
import { UNCONTESTED } from '../ports/lock.ts';
import { SqliteThread } from '../sqlite/thread.ts';

/** Keeps messages in a SQLite database in memory, which is opened with the first receiver. */
export function createMemoryDeliveries() {
  let opened: { readonly thread: SqliteThread; readonly store: DeliveryStore } | undefined;
  const open = () => {
    const thread = new SqliteThread({ path: ':memory:', keptEvents: 0 }, () => {});
    return { thread, store: deliveriesIn(thread.table('documents'), async () => UNCONTESTED, { isDurable: false }) };
  };
  return {
    open: (): DeliveryStore => {
      opened ??= open();
      return opened.store;
    },
    close: async (): Promise<void> => opened?.thread.close(),
  };
}
