import type { DeliveryEvent, MessageFailureCause } from '../capture/events.ts';
import type { DeliveryStore, FailedAttempt, StoredDelivery } from '../storage/ports/delivery-store.ts';
import { DIGEST, droppedMessage, type EndedMessage, endOf, type MessageEnd } from './messages.ts';
import { sentAfter } from './pace.ts';
import { isNamed, type Receiver } from './receiver.ts';
import { attemptAt, StoredState } from './receiver-state.ts';
import type { Attempt, Message } from './transport.ts';

export interface SenderOptions {
  readonly key: string;
  readonly store: DeliveryStore;
  readonly emit: (event: DeliveryEvent) => void;
  /** Called with the number of messages that wait no more. */
  readonly onEnded: (messages: number) => void;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Aborted when sending must end. */
  readonly signal: AbortSignal;
  /** Called with failures of the store. */
  readonly report: (error: unknown) => void;
}

type Failed = Exclude<Attempt, { end: 'delivered' }>;
type Failure = Omit<Extract<MessageEnd, { isDelivered: false }>, 'isDelivered'>;

const CAUSES = {
  again: 'unreachable',
  refused: 'refused',
  forbidden: 'forbidden',
} as const satisfies Record<Failed['end'], MessageFailureCause>;
/** Pause before a change that the store has refused, in milliseconds. */
export const STORE_RETRY_MS = 500;

/** Makes the attempts to send the messages of one receiver, and stores and reports how they ended. */
export class Sender {
  readonly #options: SenderOptions;
  readonly state: StoredState;
  #isTellingDropped = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.state = new StoredState(options.key, options.store);
  }

  /** Returns undefined when sending was ended by a stop. */
  async attempt(receiver: Receiver, message: Message): Promise<Attempt | undefined> {
    const { key, clock, signal, report } = this.#options;
    if (signal.aborted) return undefined;
    const attempt = await receiver.transport(message, signal);
    if (isNamed(key)) await this.state.change(() => ({ last: attemptAt(clock(), attempt) })).catch(report);
    return signal.aborted && attempt.end !== 'delivered' ? undefined : attempt;
  }

  /** Ends messages that were delivered as one. */
  async delivered(
    ids: readonly string[],
    receiver: Receiver,
    about: EndedMessage,
    status: number | null,
  ): Promise<void> {
    const { store, emit, onEnded, clock } = this.#options;
    await this.#untilStored(() => store.remove(ids));
    onEnded(ids.length);
    if (receiver.pace.maxPerHour !== undefined) {
      const isDigest = about.about === DIGEST;
      await this.state.change(({ sent }) => ({ sent: sentAfter(isDigest ? undefined : sent, clock()) }));
    }
    emit(endOf(about, receiver, { isDelivered: true, status }, clock()));
    await this.#tellDropped(receiver);
  }

  /** Notes that a message is to be sent again. */
  async retry(delivery: StoredDelivery, failed: FailedAttempt): Promise<void> {
    await this.#untilStored(() => this.#options.store.retry(delivery, failed));
  }

  /** Makes a message a dead letter. */
  async bury(delivery: StoredDelivery, receiver: Pick<Receiver, 'name' | 'host'>, failure: Failure): Promise<void> {
    const { store, emit, onEnded, clock } = this.#options;
    const { attempts } = delivery;
    const { reason, status } = failure;
    await this.#untilStored(() => store.bury(delivery, { attempts, dueAt: 0, reason, status }));
    onEnded(1);
    emit(endOf(delivery, receiver, { isDelivered: false, ...failure }, clock()));
  }

  /** Tells how many messages were dropped, when the receiver takes messages again. */
  async #tellDropped(receiver: Receiver): Promise<void> {
    if (this.#isTellingDropped) return;
    this.#isTellingDropped = true;
    try {
      const { dropped: count } = await this.state.read();
      if (count === 0) return;
      const attempt = await this.attempt(receiver, droppedMessage(count, this.#options.clock(), receiver));
      if (attempt?.end === 'delivered') await this.state.change(({ dropped }) => ({ dropped: dropped - count }));
    } finally {
      this.#isTellingDropped = false;
    }
  }

  /** Repeats a change that the store refuses, so that no message is sent again because of it. */
  async #untilStored(change: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await change();
      } catch (error) {
        this.#options.report(error);
        if (this.#options.signal.aborted) return;
        await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS).unref());
      }
    }
  }
}

export function failureOf({ end, reason, status }: Failed): Failure {
  return { cause: CAUSES[end], reason, status };
}
