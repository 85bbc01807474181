import { AckPolicy, DiscardPolicy, jetstream, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { type CaptureLimits, CaptureLimitsSchema } from '../capture/limits.ts';
import type { Link } from './connection.ts';
import { ensureStream, isCode, manage, NOT_FOUND } from './jetstream-api.ts';
import type { Subjects } from './subjects.ts';

/** Time after which the ticket of a worker that no longer answers is given to another one, in milliseconds. */
export const ACK_WAIT_MS = 10_000;
/** Maximum number of pull requests that wait at the server: one for each free slot of the cluster. */
const MAX_WAITING = 8_192;
/** Time limit for storing a ticket, in milliseconds. */
const PUBLISH_TIMEOUT_MS = 2_000;

/** Error codes of JetStream. */
const STORE_FAILED = 10077;
const NO_MESSAGE: readonly number[] = [10037, 10043];

export interface QueueState {
  /** The requested limits. */
  readonly limits: CaptureLimits;
  /** Number of tickets that the stream accepts now. Greater than in `limits` while a limit is being lowered. */
  readonly capacity: number;
  readonly tickets: number;
  /** Number of tickets removed since the stream was created. */
  readonly removed: number;
}

/** The stream of tickets and its one durable consumer. Methods reject with an `AwayError` while NATS is away. */
export class WorkQueue {
  readonly #link: Link;
  readonly #subjects: Subjects;

  constructor(link: Link, subjects: Subjects) {
    this.#link = link;
    this.#subjects = subjects;
  }

  /**
   * Creates what is missing, with these limits. An existing stream or consumer is not changed: adding it again would
   * overwrite the live limits.
   */
  async ensure(limits: CaptureLimits): Promise<void> {
    const { stream, consumer, allWork } = this.#subjects;
    await ensureStream(this.#link, {
      name: stream,
      subjects: [allWork],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_msgs: capacityOf(limits),
      max_msgs_per_subject: 1,
      discard_new_per_subject: true,
      description: describe(limits),
    });
    const { limits: live } = await this.state();
    try {
      await manage(this.#link, ({ consumers }) => consumers.info(stream, consumer));
    } catch (error) {
      if (!isCode(error, NOT_FOUND)) throw error;
      await manage(this.#link, ({ consumers }) =>
        consumers.add(stream, {
          durable_name: consumer,
          ack_policy: AckPolicy.Explicit,
          ack_wait: nanos(ACK_WAIT_MS),
          max_ack_pending: live.maxConcurrent,
          max_deliver: -1,
          max_waiting: MAX_WAITING,
        }),
      );
    }
  }

  /** Publishes a ticket. Returns its sequence number; undefined when the stream is full. */
  async publish(subject: string): Promise<number | undefined> {
    try {
      const { seq } = await this.#link.with((connection) =>
        jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS }).publish(subject, '', { retries: 1 }),
      );
      return seq;
    } catch (error) {
      if (!isCode(error, [STORE_FAILED])) throw error;
      // The ticket is there already: an earlier attempt was stored, although its answer was lost.
      if (error instanceof Error && error.message.includes('per subject')) return 0;
      return undefined;
    }
  }

  /**
   * Removes a ticket, queued or in flight. `sequence`: 0 when it is not known. Never purges: NATS 2.9 moves the
   * consumer past all tickets when the subject of a purge has none.
   */
  async remove(subject: string, sequence: number): Promise<void> {
    const { stream } = this.#subjects;
    try {
      const known = sequence === 0 ? await this.#sequenceOf(subject) : sequence;
      if (known !== undefined) await manage(this.#link, ({ streams }) => streams.deleteMessage(stream, known, false));
    } catch (error) {
      if (!isCode(error, NO_MESSAGE)) throw error;
    }
  }

  /**
   * Removes a ticket that no worker has: it was never delivered, or it was acknowledged before NATS was killed. A worker
   * that has it acknowledges it when the event of its capture is stored; if the worker is lost, the next one does.
   */
  async removeUnlessInFlight(subject: string): Promise<void> {
    const { stream, consumer } = this.#subjects;
    const sequence = await this.#sequenceOf(subject);
    if (sequence === undefined) return;
    const state = await manage(this.#link, ({ consumers }) => consumers.info(stream, consumer));
    const isInFlight = sequence > state.ack_floor.stream_seq && sequence <= state.delivered.stream_seq;
    if (!isInFlight) await this.remove(subject, sequence);
  }

  async #sequenceOf(subject: string): Promise<number | undefined> {
    const { stream } = this.#subjects;
    const message = await manage(this.#link, ({ streams }) => streams.getMessage(stream, { last_by_subj: subject }));
    return message?.seq;
  }

  /** Returns the subjects of the tickets of an api node, or of all nodes. */
  async ticketsOf(node?: string): Promise<ReadonlySet<string>> {
    const { stream, allWork, workOf } = this.#subjects;
    const filter = node === undefined ? allWork : workOf(node);
    const { state } = await manage(this.#link, ({ streams }) => streams.info(stream, { subjects_filter: filter }));
    return new Set(Object.keys(state.subjects ?? {}));
  }

  async state(): Promise<QueueState> {
    const { config, state } = await manage(this.#link, ({ streams }) => streams.info(this.#subjects.stream));
    return {
      limits: limitsOf(config.description, config.max_msgs),
      capacity: config.max_msgs,
      tickets: state.messages,
      removed: state.last_seq - state.messages,
    };
  }

  /** Stores the limits, applies those that are raised, and lowers the number of tickets in flight. */
  async announce(limits: CaptureLimits): Promise<void> {
    const { stream, consumer } = this.#subjects;
    const { capacity } = await this.state();
    await manage(this.#link, ({ streams }) =>
      streams.update(stream, {
        description: describe(limits),
        max_msgs: Math.max(capacity, capacityOf(limits)),
      }),
    );
    await manage(this.#link, ({ consumers }) =>
      consumers.update(stream, consumer, { max_ack_pending: limits.maxConcurrent }),
    );
  }

  /** Lowers the number of tickets that the stream accepts. Below what it holds, JetStream would drop tickets. */
  async lower(capacity: number): Promise<void> {
    await manage(this.#link, ({ streams }) => streams.update(this.#subjects.stream, { max_msgs: capacity }));
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
