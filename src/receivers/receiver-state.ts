import { z } from 'zod';
import { AttemptSchema, type ReceiverTest } from '../capture/work/receiver.ts';
import type { DeliveryStore } from '../storage/ports/delivery-store.ts';
import type { Sent } from './pace.ts';
import type { Attempt } from './transport.ts';

/** State of a receiver that is stored between messages. */
interface ReceiverState {
  /** Number of messages that were dropped, and that it was not told of. */
  readonly dropped: number;
  readonly sent?: Sent | undefined;
  /** The last attempt, of receivers with a name. */
  readonly last?: z.output<typeof AttemptSchema> | undefined;
}

const StateSchema = z.object({
  dropped: z.int().nonnegative().catch(0),
  sent: z.object({ hour: z.int(), messages: z.int() }).optional(),
  last: AttemptSchema.optional(),
});

export function readState(text: string | undefined): ReceiverState {
  return text === undefined ? { dropped: 0 } : StateSchema.parse(JSON.parse(text));
}

/** Returns how an attempt ended. */
export function endOfAttempt(attempt: Attempt): ReceiverTest {
  const reason = attempt.end === 'delivered' ? null : attempt.reason;
  return { delivered: reason === null, status: attempt.status, reason };
}

export function attemptAt(at: number, attempt: Attempt): NonNullable<ReceiverState['last']> {
  return { at: new Date(at).toISOString(), ...endOfAttempt(attempt) };
}

/** The stored state of one receiver, which is read once. */
export class StoredState {
  readonly #key: string;
  readonly #store: Pick<DeliveryStore, 'state' | 'setState'>;
  #state: ReceiverState | undefined;
  /** The last change. */
  #changing = Promise.resolve();

  constructor(key: string, store: Pick<DeliveryStore, 'state' | 'setState'>) {
    this.#key = key;
    this.#store = store;
  }

  async read(): Promise<ReceiverState> {
    const stored = this.#state === undefined ? await this.#store.state(this.#key) : undefined;
    // Several may have read it meanwhile.
    this.#state ??= readState(stored);
    return this.#state;
  }

  /** Several changes at once are stored in their order. */
  async change(change: (state: ReceiverState) => Partial<ReceiverState>): Promise<void> {
    const read = await this.read();
    const state = this.#state ?? read;
    this.#state = { ...state, ...change(state) };
    const text = JSON.stringify(this.#state);
    const changed = this.#changing.then(() => this.#store.setState(this.#key, text));
    this.#changing = changed.catch(() => undefined);
    await changed;
  }
}
