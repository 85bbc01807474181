import { DiscardPolicy, jetstream, StorageType, type StreamConfig } from '@nats-io/jetstream';
import type { Link } from './connection.ts';
import { ensureStream, isCode, manage } from './jetstream-api.ts';

/** Time limit for storing a message, in milliseconds. */
const PUBLISH_TIMEOUT_MS = 2_000;

/** Error codes of JetStream. */
const STORE_FAILED = 10077;
const NO_MESSAGE: readonly number[] = [10037, 10043];

/**
 * A stream of messages without a body, one for each subject. A subject ends with the name of an api node and the id of
 * a capture. Methods reject with an `AwayError` while NATS is away.
 */
export class TicketStream {
  readonly name: string;
  readonly #link: Link;
  readonly #subjectsOf: (node: string) => string;

  /** `subjectsOf`: returns the filter for the subjects of an api node. */
  constructor(link: Link, name: string, subjectsOf: (node: string) => string) {
    this.name = name;
    this.#link = link;
    this.#subjectsOf = subjectsOf;
  }

  /** Creates the stream if it is missing. */
  ensure(config: Partial<StreamConfig>): Promise<void> {
    return ensureStream(this.#link, {
      ...config,
      name: this.name,
      subjects: [this.#subjectsOf('*')],
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_msgs_per_subject: 1,
      discard_new_per_subject: true,
    });
  }

  /** Stores a message. Returns its sequence number; undefined when the stream is full. */
  async publish(subject: string): Promise<number | undefined> {
    try {
      const { seq } = await this.#link.with((connection) =>
        jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS }).publish(subject, '', { retries: 1 }),
      );
      return seq;
    } catch (error) {
      if (!isCode(error, [STORE_FAILED])) throw error;
      // The message is there already: an earlier attempt was stored, although its answer was lost.
      if (error instanceof Error && error.message.includes('per subject')) return 0;
      return undefined;
    }
  }

  /**
   * Removes a message. `sequence`: 0 when it is not known. Never purges: NATS 2.9 moves the consumer past all messages
   * when the subject of a purge has none.
   */
  async remove(subject: string, sequence: number): Promise<void> {
    try {
      const known = sequence === 0 ? await this.sequenceOf(subject) : sequence;
      if (known === undefined) return;
      await manage(this.#link, ({ streams }) => streams.deleteMessage(this.name, known, false));
    } catch (error) {
      if (!isCode(error, NO_MESSAGE)) throw error;
    }
  }

  async sequenceOf(subject: string): Promise<number | undefined> {
    const message = await manage(this.#link, ({ streams }) => streams.getMessage(this.name, { last_by_subj: subject }));
    return message?.seq;
  }

  /** Returns the subjects of the messages of an api node, or of all nodes. */
  async subjects(node = '*'): Promise<ReadonlySet<string>> {
    const filter = this.#subjectsOf(node);
    const { state } = await manage(this.#link, ({ streams }) => streams.info(this.name, { subjects_filter: filter }));
    return new Set(Object.keys(state.subjects ?? {}));
  }
}
