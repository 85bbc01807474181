import { randomUUID } from 'node:crypto';
import { filter, type Observable } from 'rxjs';
import type { CapstanEvent, Unsent } from '../../capture/events.ts';
import { entryOf } from '../../feed/event-feed.ts';
import { type DeliveryOptions, startDelivery } from '../../receivers/delivery.ts';
import { type Addressee, deliveriesOf } from '../../receivers/dispatcher.ts';
import { createMemoryDocuments } from '../../storage/memory/documents.ts';

/**
 * Tells the receivers of --alert, from memory, what happens while the database cannot be used, in which messages wait.
 * Nothing is opened before the first such event.
 */
export function openAlerts(
  events$: Observable<CapstanEvent & Unsent>,
  alerted: readonly Addressee[],
  options: Omit<DeliveryOptions, 'upTo'>,
) {
  const memory = createMemoryDocuments();
  let starting: ReturnType<typeof startDelivery> | undefined;
  let delivery: Awaited<typeof starting>;
  let position = 0;

  const tell = async (event: CapstanEvent): Promise<void> => {
    position += 1;
    const messages = deliveriesOf({ ...entryOf(event), id: position, key: randomUUID() }, alerted);
    starting ??= startDelivery(memory.openDeliveries(), { ...options, upTo: () => position });
    delivery = await starting;
    await delivery.add(messages);
    delivery.send(messages.map(({ receiver }) => receiver));
  };
  const subscription = events$
    .pipe(filter(({ type, to }) => type === 'pressure.changed' && to === undefined && alerted.length > 0))
    .subscribe((event) => void tell(event).catch(options.report));

  return {
    get pending() {
      return delivery?.pending ?? 0;
    },
    /** Waits for retries, for at most `graceMs` milliseconds. May be called again with less time. */
    stop: async (graceMs: number): Promise<void> => {
      subscription.unsubscribe();
      await (await starting)?.stop(graceMs);
      await memory.close();
    },
  };
}
