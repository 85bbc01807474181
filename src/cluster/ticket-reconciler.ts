import type { Census } from './census.ts';
import { AwayError, type Link } from './connection.ts';
import { ticketOf } from './subjects.ts';
import type { Ticket } from './ticket.ts';
import type { TicketStream } from './ticket-stream.ts';
import type { WorkQueue } from './work-queue.ts';

/** Interval at which tickets are compared with the streams, in milliseconds. */
const INTERVAL_MS = 5_000;

interface TicketReconcilerOptions {
  readonly link: Link;
  readonly queue: WorkQueue;
  /** Name of this api node. */
  readonly node: string;
  readonly census: Pick<Census, 'nodeNames'>;
  /** Tickets of this node by the id of their capture. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  readonly onProblem: (problem: unknown) => void;
}

/** The message of a ticket in one of the streams. */
interface Kind {
  readonly stream: TicketStream;
  readonly subject: (ticket: Ticket) => string;
  /** The message's sequence number; undefined while the stream should have none. */
  readonly sequence: 'sequence' | 'place';
  readonly remove: (subject: string) => Promise<void>;
  /** Messages that were found to be removed. */
  found: ReadonlySet<string>;
}

/** Compares the tickets of an api node, and their places, with the streams at intervals, until it is stopped. */
export class TicketReconciler {
  readonly #options: TicketReconcilerOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #kinds: readonly Kind[];

  constructor(options: TicketReconcilerOptions) {
    this.#options = options;
    const { queue, onProblem } = options;
    this.#kinds = [
      {
        stream: queue.places,
        subject: ({ placeSubject }) => placeSubject,
        sequence: 'place',
        remove: (subject) => queue.places.remove(subject, 0),
        found: new Set(),
      },
      {
        stream: queue.tickets,
        subject: ({ subject }) => subject,
        sequence: 'sequence',
        remove: (subject) => queue.removeUnlessInFlight(subject),
        found: new Set(),
      },
    ];
    this.#timer = setInterval(() => {
      this.#reconcile().catch((error: unknown) => {
        if (!(error instanceof AwayError)) onProblem(error);
      });
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Publishes messages that a stream has lost, and removes those without a waiting capture that no worker has. */
  async #reconcile(): Promise<void> {
    const { link, node, tickets } = this.#options;
    for (const kind of this.#kinds) {
      if (!link.isUp) return;
      const { stream, subject, sequence } = kind;
      const expected = [...tickets.values()].filter((ticket) => ticket[sequence] !== undefined);
      const present = await stream.subjects(node);
      for (const ticket of expected) {
        if (present.has(subject(ticket)) || tickets.get(ticket.command.id) !== ticket) continue;
        const message = subject(ticket);
        const published = await stream.publish(message);
        // Tickets may have exchanged their messages meanwhile.
        const owner = [...tickets.values()].find((each) => subject(each) === message);
        if (owner !== undefined) owner[sequence] = published;
      }
      const known = new Set([...tickets.values()].map(subject));
      const strays = [...present].filter((one) => !known.has(one));
      // Removed only when found twice in a row: a worker that has just reported acknowledges its ticket shortly, and
      // after an outage of NATS, nodes return one after another.
      const found = new Set([...strays, ...(await this.#orphans(stream))]);
      for (const one of found) if (kind.found.has(one)) await kind.remove(one);
      kind.found = found;
    }
  }

  /**
   * Returns the messages of api nodes that have ended; the first of the nodes removes them. Workers drop most tickets.
   * But a NATS server that was killed may have forgotten that an acknowledged ticket was removed. Such a ticket
   * stays, and is never delivered.
   */
  async #orphans(stream: TicketStream): Promise<readonly string[]> {
    const { node, census } = this.#options;
    const running = new Set(census.nodeNames);
    const isFirst = [...running].every((name) => name >= node);
    if (!isFirst) return [];
    return [...(await stream.subjects())].filter((subject) => !running.has(ticketOf(subject).node));
  }
}
