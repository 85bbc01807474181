import { jetstream, type StreamInfo } from '@nats-io/jetstream';
import { ofKey } from '../capture/client.ts';
import { cutsOf } from '../fairness/share.ts';
import { gapEntry } from '../storage/ports/event-log.ts';
import type { Link } from './connection.ts';
import type { EventStream } from './event-stream.ts';
import { API_TIMEOUT_MS, manage } from './jetstream-api.ts';

/*
 * The NATS server would remove the oldest events of all API keys. So before the stream is full, the oldest events of
 * the key with the most bytes are removed. Each process checks the stream after it has written enough, and does not
 * write until there is room. Two processes that check at the same time remove the same events.
 */

/** Shares of the stream's maximum size: written between two checks, above which events are removed, and kept then. */
const LOOK_SHARE = 1 / 128;
const FULL_SHARE = 0.9;
const KEPT_SHARE = 0.75;
/** Bytes that an event takes in the stream besides its body: subject, headers and checksum. */
const OVERHEAD_BYTES = 200;

/** Time limit for reading the sizes of all events, in milliseconds. Measured: 110,000 events take 3.4 s. */
const READ_TIMEOUT_MS = 30_000;

/** Events of one key in the stream, oldest first. */
interface Share {
  bytes: number;
  readonly events: { readonly sequence: number; readonly bytes: number }[];
}

export class EventTrimmer {
  readonly #link: Link;
  readonly #stream: EventStream;
  /** Bytes that this process may write until it checks the stream again. */
  #untilLook = 0;
  #trimming: Promise<void> | undefined;

  constructor(link: Link, stream: EventStream) {
    this.#link = link;
    this.#stream = stream;
  }

  /** Call it when this process has written events. Rejects with an `AwayError` while NATS is away. */
  async written(bytes: number): Promise<void> {
    this.#untilLook -= bytes;
    if (this.#untilLook > 0) return;
    this.#trimming ??= this.#look().finally(() => {
      this.#trimming = undefined;
    });
    await this.#trimming;
  }

  async #look(): Promise<void> {
    const { config, state } = await manage<StreamInfo>(this.#link, ({ streams }) =>
      streams.info(this.#link.subjects.events),
    );
    this.#untilLook = config.max_bytes * LOOK_SHARE;
    if (state.bytes < config.max_bytes * FULL_SHARE) return;
    const shares = await this.#read(state.last_seq);
    const bytes = new Map([...shares].map(([owner, share]) => [owner, share.bytes]));
    for (const [owner, cut] of cutsOf(bytes, state.bytes - config.max_bytes * KEPT_SHARE)) {
      const before = cutAt(shares.get(owner)?.events ?? [], cut);
      if (before !== undefined) await this.#remove(owner, before);
    }
  }

  /** Reads how many bytes each key has. The server sends no message bodies for it. */
  #read(last: number): Promise<ReadonlyMap<string, Share>> {
    return this.#link.with(async (connection) => {
      const { consumers } = jetstream(connection, { timeout: API_TIMEOUT_MS });
      const consumer = await consumers.get(this.#link.subjects.events, { headers_only: true });
      const shares = new Map<string, Share>();
      const messages = await consumer.consume();
      // Another process may remove the remaining messages during the read; then none arrives.
      const limit = setTimeout(() => messages.stop(), READ_TIMEOUT_MS).unref();
      let isRead = false;
      for await (const { subject, seq, headers, info } of messages) {
        const bytes = Number(headers?.get('Nats-Msg-Size') ?? 0) + OVERHEAD_BYTES;
        const owner = this.#link.subjects.ownerIn(subject);
        const share = shares.get(owner) ?? { bytes: 0, events: [] };
        shares.set(owner, share);
        share.bytes += bytes;
        share.events.push({ sequence: seq, bytes });
        isRead = seq >= last || info.pending === 0;
        if (isRead) break;
      }
      clearTimeout(limit);
      await messages.close();
      await consumer.delete();
      return isRead ? shares : new Map();
    });
  }

  /** Removes the events of a key before a sequence number, and writes a gap for the subscribers of this key. */
  async #remove(owner: string, before: number): Promise<void> {
    const { events, eventsOf, keyOf } = this.#link.subjects;
    await manage(this.#link, ({ streams }) => streams.purge(events, { filter: eventsOf(owner), seq: before }));
    const event = { ...gapEntry('too_old', Date.now(), ofKey(keyOf(owner))), key: `gap-${before}` };
    await this.#stream.publish('', { n: 1, event });
  }
}

/** Returns the sequence number before which the events have this many bytes; undefined when all have fewer. */
function cutAt(events: Share['events'], cut: number): number | undefined {
  let bytes = 0;
  return events.find((event) => {
    if (bytes >= cut) return true;
    bytes += event.bytes;
    return false;
  })?.sequence;
}
