import { setTimeout as delay } from 'node:timers/promises';
import type { Ticket } from './tickets.ts';

/** Pause before a ticket that had no room is published again, in milliseconds. */
const FULL_MS = 50;

export interface BacklogOptions {
  /** Publishes a ticket. Resolves with false when there is no room for it. */
  readonly publish: (ticket: Ticket) => Promise<boolean>;
  /** Called each time a ticket had no room. */
  readonly onFull: () => void;
}

interface Waiting {
  readonly since: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Elements of batches at this api node whose tickets are not published yet. They are published one by one, in order. */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #waiting = new Map<Ticket, Waiting>();
  #publishing: Ticket | undefined;
  #isWorking = false;

  constructor(options: BacklogOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(ticket: Ticket): boolean {
    return this.#waiting.has(ticket);
  }

  /**
   * Publishes a ticket as soon as there is room. Rejects with the reason of the command's signal, or when NATS was away
   * for longer than the capture's deadline.
   */
  add(ticket: Ticket): Promise<void> {
    const { signal } = ticket.command;
    return new Promise<void>((resolve, reject) => {
      // A ticket that is being published is removed once its sequence number is known.
      const onAbort = (): void => {
        if (this.#publishing !== ticket) this.#waiting.get(ticket)?.reject(signal.reason);
      };
      const end = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(ticket);
      };
      this.#waiting.set(ticket, {
        since: performance.now(),
        resolve: () => {
          end();
          resolve();
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#waiting.size > 0) {
      for (const [ticket, waiting] of this.#waiting) {
        if (!(await this.#publish(ticket, waiting))) break;
      }
    }
    this.#isWorking = false;
  }

  /** Publishes a ticket, or waits for a moment. Returns whether the ticket left the backlog. */
  async #publish(ticket: Ticket, waiting: Waiting): Promise<boolean> {
    const { signal, request } = ticket.command;
    this.#publishing = ticket;
    try {
      if (await this.#options.publish(ticket)) waiting.resolve();
      else this.#options.onFull();
    } catch (error) {
      // An outage of the cluster counts against the capture's own deadline, a full queue does not.
      if (performance.now() - waiting.since > request.timeoutMs) waiting.reject(error);
    }
    this.#publishing = undefined;
    if (signal.aborted) waiting.reject(signal.reason);
    if (this.#waiting.has(ticket)) await delay(FULL_MS);
    return !this.#waiting.has(ticket);
  }
}
