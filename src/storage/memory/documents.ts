import { deliveriesIn } from '../documents/deliveries.ts';
import { idempotencyIn } from '../documents/idempotency.ts';
import type { DeliveryStore } from '../ports/delivery-store.ts';
import type { IdempotencyStore } from '../ports/idempotency-store.ts';
import { UNCONTESTED } from '../ports/lock.ts';
import { SqliteThread } from '../sqlite/thread.ts';

/** Maximum number of answers in memory, and their bytes: without API keys, and of each API key. */
const MAX_WITHOUT_KEY = { count: 10_000, bytes: 64 * 1024 * 1024 };
const MAX_OF_KEY = { count: 1_000, bytes: 16 * 1024 * 1024 };

function openInMemory() {
  const thread = new SqliteThread({ path: ':memory:', keptEvents: 0 }, () => {});
  const documents = thread.table('documents');
  return {
    thread,
    deliveries: deliveriesIn(documents, async () => UNCONTESTED, { isDurable: false }),
    idempotency: idempotencyIn(documents),
  };
}

/** Keeps messages and idempotency keys in a SQLite database in memory, which is opened with the first of them. */
export function createMemoryDocuments() {
  let opened: ReturnType<typeof openInMemory> | undefined;
  const open = () => {
    opened ??= openInMemory();
    return opened;
  };
  const idempotency: IdempotencyStore = {
    claim: (attempt, times) => open().idempotency.claim(attempt, times),
    renew: (attempt) => open().idempotency.renew(attempt),
    keep: (attempt, answer, max = attempt.client === null ? MAX_WITHOUT_KEY : MAX_OF_KEY) =>
      open().idempotency.keep(attempt, answer, max),
    isClaimed: (key) => open().idempotency.isClaimed(key),
    forget: (attempt) => open().idempotency.forget(attempt),
  };
  return {
    openDeliveries: (): DeliveryStore => open().deliveries,
    idempotency,
    close: async (): Promise<void> => opened?.thread.close(),
  };
}
