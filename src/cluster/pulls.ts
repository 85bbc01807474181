import { createInbox, type Msg, type NatsConnection, nanos, type Subscription } from '@nats-io/transport-node';
import type { Link } from './connection.ts';

/** A ticket that was given to this worker, and must be acknowledged, returned or kept alive. */
export interface Delivery {
  readonly subject: string;
  /** Number of deliveries of the ticket to a worker, this one included. */
  readonly times: number;
  /** Acknowledges the ticket as finished. */
  ack(): void;
  /** Returns the ticket to the head of the queue, after a delay in milliseconds. */
  nak(delayMs?: number): void;
  /** Keeps the ticket for another period of the redelivery timeout. */
  working(): void;
}

/** Time limit of a pull at the server, in milliseconds. Shows when the server has forgotten a pull. */
const EXPIRES_MS = 10_000;
/** Additional wait for the server's message that a pull has expired, in milliseconds. */
const LATE_MS = 2_000;
/** Pause after a pull that was refused, in milliseconds. */
const REFUSED_MS = 500;

interface PullOptions {
  readonly link: Link;
  /** Returns the number of tickets that the worker can take now. */
  readonly room: () => number;
  readonly onTicket: (delivery: Delivery) => void;
  /** Called when pulls have no responders: the stream or its consumer is missing. */
  readonly onMissing: () => void;
}

/**
 * Keeps one pull open for each ticket that the worker can take. One request for several tickets would give them all to
 * this worker while others are idle. A pull's subscription ends with its first message, so that it receives at most one
 * ticket.
 */
export class Pulls {
  readonly #options: PullOptions;
  readonly #open = new Map<Subscription, NodeJS.Timeout>();
  #isReady = false;
  #isRefused = false;
  #isStopped = false;

  constructor(options: PullOptions) {
    this.#options = options;
    options.link.observe(() => {
      // The server forgets pulls when the connection ends.
      this.#isReady = false;
      this.#forget();
    });
  }

  /** Call it after each connection, when the stream and its consumer exist: earlier pulls are lost silently. */
  ready(): void {
    this.#isReady = true;
    this.refill();
  }

  /** Opens a pull for each ticket that there is room for. Call it when a slot becomes free. */
  refill(): void {
    if (this.#isStopped || this.#isRefused || !this.#isReady) return;
    const missing = this.#options.room() - this.#open.size;
    if (missing <= 0) return;
    void this.#options.link
      .with(async (connection) => {
        for (let count = 0; count < missing; count += 1) this.#pull(connection);
      })
      .catch(() => {});
  }

  /** Opens no more pulls. Resolves when no ticket can arrive any more; those on their way are still passed on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const subscriptions = [...this.#open.keys()];
    this.#open.forEach(clearTimeout);
    this.#open.clear();
    await Promise.all(subscriptions.map((subscription) => subscription.drain().catch(() => undefined)));
  }

  #pull(connection: NatsConnection): void {
    const { inboxPrefix, subjects } = this.#options.link;
    const inbox = createInbox(inboxPrefix);
    const subscription = connection.subscribe(inbox, {
      max: 1,
      callback: (error, message) => {
        this.#close(subscription);
        if (error === null && message.subject !== inbox) this.#options.onTicket(deliveryOf(message));
        else if (error !== null || message.headers?.code !== 408) this.#pause(message.headers?.code);
        this.refill();
      },
    });
    const late = setTimeout(() => {
      this.#close(subscription);
      subscription.unsubscribe();
      this.refill();
    }, EXPIRES_MS + LATE_MS);
    this.#open.set(subscription, late);
    connection.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${subjects.stream}.${subjects.consumer}`,
      JSON.stringify({ batch: 1, expires: nanos(EXPIRES_MS) }),
      { reply: inbox },
    );
  }

  #close(subscription: Subscription): void {
    clearTimeout(this.#open.get(subscription));
    this.#open.delete(subscription);
  }

  #pause(code: number | undefined): void {
    if (this.#isRefused || this.#isStopped) return;
    if (code === 503 || code === 409) this.#options.onMissing();
    this.#isRefused = true;
    setTimeout(() => {
      this.#isRefused = false;
      this.refill();
    }, REFUSED_MS).unref();
  }

  #forget(): void {
    for (const [subscription, late] of this.#open) {
      clearTimeout(late);
      subscription.unsubscribe();
    }
    this.#open.clear();
  }
}

/** Reads the reply subject: it starts with `$JS.ACK.` and ends with deliveries, sequences, time and number pending. */
function deliveryOf(message: Msg): Delivery {
  const parts = (message.reply ?? '').split('.');
  // NATS 2.9: nine parts. Later versions insert domain and account, and may append a token.
  const times = Number(parts[parts.length === 9 ? 4 : 6]);
  return {
    subject: message.subject,
    times: Number.isInteger(times) ? times : 1,
    ack: () => void message.respond('+ACK'),
    nak: (delayMs) =>
      void message.respond(delayMs === undefined ? '-NAK' : `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`),
    working: () => void message.respond('+WPI'),
  };
}
