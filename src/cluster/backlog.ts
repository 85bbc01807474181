import { setTimeout as delay } from 'node:timers/promises';
import { createWorkInTurn } from '../fairness/work-in-turn.ts';
import type { Ticket } from './ticket.ts';

/** Interval at which a full queue, or one that is away, is tried again, in milliseconds. */
const RETRY_MS = 50;

interface BacklogOptions {
  /** Whether there is room for a ticket. */
  readonly hasRoom: () => boolean;
  readonly publish: (ticket: Ticket) => Promise<void>;
  /** Called at intervals while a capture waits for room. */
  readonly onFull: () => void;
}

/**
 * Captures at this api node whose tickets are not published yet. They are published one by one. Owners take turns, and
 * so do an owner's batches and its single captures.
 */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #inTurn = createWorkInTurn(1);
  #freed = Promise.withResolvers<void>();

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  /** Call it when a published ticket is gone: there may be room for another one. */
  free(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  /**
   * Publishes a ticket when it is its owner's turn and there is room. Rejects with the reason of the command's signal,
   * or, for an item, when NATS was away for longer than the capture's deadline.
   */
  add(ticket: Ticket, owner: string | null): Promise<void> {
    const { signal, batch } = ticket.command;
    const since = performance.now();
    return new Promise<void>((resolve, reject) => {
      let hasTurn = false;
      const work = async (): Promise<void> => {
        hasTurn = true;
        signal.removeEventListener('abort', leave);
        await this.#publish(ticket, since);
        resolve();
        // The next turn begins when there is room, so that a capture that comes meanwhile can be the next one.
        while (!this.#options.hasRoom()) await this.#retryLater(this.#inTurn.waiting > 0);
      };
      // A ticket that is being published is removed once its sequence number is known.
      const leave = (): void => {
        turn.unsubscribe();
        reject(signal.reason);
      };
      const turn = this.#inTurn.run(owner, work, batch).subscribe({ error: reject });
      if (hasTurn) return;
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  async #publish(ticket: Ticket, since: number): Promise<void> {
    const { signal, request } = ticket.command;
    for (;;) {
      signal.throwIfAborted();
      if (this.#options.hasRoom()) {
        try {
          return await this.#options.publish(ticket);
        } catch (error) {
          // An outage counts against the deadline of an item. A single capture is queued, and its wait is limited.
          if (ticket.isItem && performance.now() - since > request.timeoutMs) throw error;
        }
      }
      await this.#retryLater(!this.#options.hasRoom(), signal);
    }
  }

  async #retryLater(isFull: boolean, signal?: AbortSignal): Promise<void> {
    if (isFull) this.#options.onFull();
    const retry = delay(RETRY_MS, undefined, signal && { signal }).catch(() => undefined);
    await Promise.race([retry, this.#freed.promise]);
  }
}
