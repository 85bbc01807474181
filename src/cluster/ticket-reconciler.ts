import { AwayError, type Link } from './connection.ts';
import { ticketOf } from './subjects.ts';
import type { Ticket } from './tickets.ts';
import type { WorkQueue } from './work-queue.ts';

/** Interval at which tickets are compared with the stream, in milliseconds. */
const INTERVAL_MS = 5_000;

export interface TicketReconcilerOptions {
  readonly link: Link;
  readonly queue: WorkQueue;
  /** Name of this api node. */
  readonly node: string;
  /** Returns the names of the api nodes that are running, this one included. */
  readonly nodes: () => readonly string[];
  /** Tickets of this node by the id of their capture. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  /** Whether a ticket waits to be published. */
  readonly isUnpublished: (ticket: Ticket) => boolean;
  readonly onProblem: (problem: unknown) => void;
}

/** Compares the tickets of an api node with the stream at intervals, until it is stopped. */
export class TicketReconciler {
  readonly #options: TicketReconcilerOptions;
  readonly #timer: NodeJS.Timeout;
  #strays: ReadonlySet<string> = new Set();
  #orphans: ReadonlySet<string> = new Set();

  constructor(options: TicketReconcilerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#reconcile().catch((error: unknown) => {
        if (!(error instanceof AwayError)) options.onProblem(error);
      });
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Publishes tickets that the stream has lost, and removes those without a waiting capture that no worker has. */
  async #reconcile(): Promise<void> {
    const { link, queue, node, tickets, isUnpublished } = this.#options;
    if (!link.isUp) return;
    const expected = [...tickets.values()].filter((ticket) => !isUnpublished(ticket));
    const present = await queue.ticketsOf(node);
    for (const ticket of expected) {
      if (present.has(ticket.subject) || tickets.get(ticket.command.id) !== ticket) continue;
      ticket.sequence = await queue.publish(ticket.subject);
    }
    const known = new Set([...tickets.values()].map(({ subject }) => subject));
    const strays = new Set([...present].filter((subject) => !known.has(subject)));
    // Removed only when found twice in a row: a worker that has just reported acknowledges its ticket shortly.
    for (const subject of strays) if (this.#strays.has(subject)) await queue.removeUnlessInFlight(subject);
    this.#strays = strays;
    await this.#removeOrphans();
  }

  /**
   * Removes the tickets of api nodes that have ended; the first of the nodes does. Workers drop most of them. But a
   * NATS server that was killed may have forgotten that an acknowledged ticket was removed: it stays, and is never
   * delivered.
   */
  async #removeOrphans(): Promise<void> {
    const { queue, node, nodes } = this.#options;
    const running = new Set(nodes());
    const isFirst = [...running].every((name) => name >= node);
    const tickets = isFirst ? await queue.ticketsOf() : new Set<string>();
    const orphans = new Set([...tickets].filter((subject) => !running.has(ticketOf(subject).node)));
    // Removed only when found twice in a row: after an outage of NATS, nodes return one after another.
    for (const subject of orphans) if (this.#orphans.has(subject)) await queue.removeUnlessInFlight(subject);
    this.#orphans = orphans;
  }
}
