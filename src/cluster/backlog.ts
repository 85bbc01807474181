import { setTimeout as delay } from 'node:timers/promises';
import { finalize } from 'rxjs';
import { createWorkInTurn } from '../streams/work-in-turn.ts';
import type { Ticket } from './tickets.ts';

/** Pause before a ticket that had no room is published again, in milliseconds. */
const FULL_MS = 50;

export interface BacklogOptions {
  /** Publishes a ticket. Resolves with false when there is no room for it. */
  readonly publish: (ticket: Ticket) => Promise<boolean>;
  /** Called each time a ticket had no room. */
  readonly onFull: () => void;
}

/**
 * Elements of batches at this api node whose tickets are not published yet. They are published one by one. Owners take
 * turns, and the elements of one are published in order.
 */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #inTurn = createWorkInTurn(1);
  readonly #unpublished = new Set<Ticket>();

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#unpublished.size;
  }

  has(ticket: Ticket): boolean {
    return this.#unpublished.has(ticket);
  }

  /**
   * Publishes a ticket when it is its owner's turn and there is room. Rejects with the reason of the command's signal,
   * or when NATS was away for longer than the capture's deadline.
   */
  add(ticket: Ticket, owner: string | null): Promise<void> {
    const { signal } = ticket.command;
    const since = performance.now();
    this.#unpublished.add(ticket);
    return new Promise<void>((resolve, reject) => {
      let hasTurn = false;
      // A ticket that is being published is removed once its sequence number is known.
      const leave = (): void => {
        if (hasTurn) return;
        turn.unsubscribe();
        reject(signal.reason);
      };
      const work = (): Promise<void> => {
        hasTurn = true;
        return this.#publish(ticket, since);
      };
      const end = (): void => {
        signal.removeEventListener('abort', leave);
        this.#unpublished.delete(ticket);
      };
      const turn = this.#inTurn.run(owner, work).pipe(finalize(end)).subscribe({ complete: resolve, error: reject });
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  async #publish(ticket: Ticket, since: number): Promise<void> {
    const { signal, request } = ticket.command;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#options.publish(ticket)) return;
        this.#options.onFull();
      } catch (error) {
        // An outage of the cluster counts against the capture's own deadline, a full queue does not.
        if (performance.now() - since > request.timeoutMs) throw error;
      }
      await delay(FULL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
