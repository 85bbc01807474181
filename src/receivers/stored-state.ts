import type { DeliveryStore } from '../storage/ports/delivery-store.ts';
import { type ReceiverState, readState } from './receiver-state.ts';

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
