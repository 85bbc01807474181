import { AckPolicy, RetentionPolicy } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type CaptureLimits, CaptureLimitsSchema } from '../capture/operation/limits.ts';
import type { Link } from './connection.ts';
import { isCode, manage, NOT_FOUND } from './jetstream-api.ts';
import { TicketStream } from './ticket-stream.ts';

/** Time after which the ticket of a worker that no longer answers is given to another one, in milliseconds. */
export const ACK_WAIT_MS = 10_000;
/** Maximum number of pull requests that wait at the server: one for each free slot of the cluster. */
const MAX_WAITING = 8_192;

export interface QueueState {
  /** The requested limits. */
  readonly limits: CaptureLimits;
  /** Number of places that the stream has now. Greater than in `limits` while a limit is being lowered. */
  readonly capacity: number;
  /** Places in use. */
  readonly places: number;
  /** Tickets of captures that run, or run next. */
  readonly tickets: number;
  /** Number of tickets removed since the stream was created. */
  readonly removed: number;
}

/**
 * The streams of the queue: places, one for each single capture that is admitted, and tickets for the workers, with
 * their one durable consumer. Methods reject with an `AwayError` while NATS is away.
 */
export class WorkQueue {
  readonly places: TicketStream;
  readonly tickets: TicketStream;
  readonly #link: Link;
  readonly #consumer: string;

  constructor(link: Link) {
    const { places, placesOf, stream, workOf, consumer } = link.subjects;
    this.places = new TicketStream(link, places, placesOf);
    this.tickets = new TicketStream(link, stream, workOf);
    this.#link = link;
    this.#consumer = consumer;
  }

  /**
   * Creates what is missing, with these limits. Existing streams or consumers are not changed: adding them again would
   * overwrite the live limits.
   */
  async ensure(limits: CaptureLimits): Promise<void> {
    await this.places.ensure({ max_msgs: capacityOf(limits), description: describe(limits) });
    await this.tickets.ensure({ retention: RetentionPolicy.Workqueue });
    const { limits: live } = await this.state();
    const { name } = this.tickets;
    try {
      await manage(this.#link, ({ consumers }) => consumers.info(name, this.#consumer));
    } catch (error) {
      if (!isCode(error, NOT_FOUND)) throw error;
      await manage(this.#link, ({ consumers }) =>
        consumers.add(name, {
          durable_name: this.#consumer,
          ack_policy: AckPolicy.Explicit,
          ack_wait: nanos(ACK_WAIT_MS),
          max_ack_pending: live.maxConcurrent,
          max_deliver: -1,
          max_waiting: MAX_WAITING,
        }),
      );
    }
  }

  /**
   * Removes a ticket that no worker has: it was never delivered, or it was acknowledged before NATS was killed. A
   * worker that has it acknowledges it when the event of its capture is stored; if the worker is lost, the next one
   * does.
   */
  async removeUnlessInFlight(subject: string): Promise<void> {
    const sequence = await this.tickets.sequenceOf(subject);
    if (sequence === undefined) return;
    const state = await manage(this.#link, ({ consumers }) => consumers.info(this.tickets.name, this.#consumer));
    const isInFlight = sequence > state.ack_floor.stream_seq && sequence <= state.delivered.stream_seq;
    if (!isInFlight) await this.tickets.remove(subject, sequence);
  }

  async state(): Promise<QueueState> {
    const { config, state } = await manage(this.#link, ({ streams }) => streams.info(this.places.name));
    const work = await manage(this.#link, ({ streams }) => streams.info(this.tickets.name));
    return {
      limits: limitsOf(config.description, config.max_msgs),
      capacity: config.max_msgs,
      places: state.messages,
      tickets: work.state.messages,
      removed: work.state.last_seq - work.state.messages,
    };
  }

  /** Stores the limits, applies those that are raised, and lowers the number of tickets in flight. */
  async announce(limits: CaptureLimits): Promise<void> {
    const { capacity } = await this.state();
    await manage(this.#link, ({ streams }) =>
      streams.update(this.places.name, {
        description: describe(limits),
        max_msgs: Math.max(capacity, capacityOf(limits)),
      }),
    );
    await manage(this.#link, ({ consumers }) =>
      consumers.update(this.tickets.name, this.#consumer, { max_ack_pending: limits.maxConcurrent }),
    );
  }

  /** Lowers the number of places. Below what is in use, JetStream would drop some. */
  async lower(capacity: number): Promise<void> {
    await manage(this.#link, ({ streams }) => streams.update(this.places.name, { max_msgs: capacity }));
  }
}

export function capacityOf({ maxConcurrent, maxQueue }: CaptureLimits): number {
  return maxConcurrent + maxQueue;
}

/** The limits are noted in the stream's description, which is the only free text of a stream before NATS 2.10. */
function describe(limits: CaptureLimits): string {
  return JSON.stringify(limits);
}

function limitsOf(description: string | undefined, capacity: number): CaptureLimits {
  const otherwise = { maxConcurrent: capacity, maxQueue: 0 };
  try {
    return CaptureLimitsSchema.safeParse(JSON.parse(description ?? '')).data ?? otherwise;
  } catch {
    // The description was not written by Capstan.
    return otherwise;
  }
}
