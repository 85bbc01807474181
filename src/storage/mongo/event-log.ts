import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db, FindCursor } from 'mongodb';
import {
  type EventEntry,
  type EventLog,
  type EventLogOptions,
  GAP,
  gapEntry,
  type LoggedEvent,
  type Publish,
} from '../event-log.ts';
import { createIdSource } from '../ids.ts';
import {
  addLink,
  awaitLinksAfter,
  type EventsDocument,
  linksAfter,
  newestLink,
  openEventCollection,
} from './event-collection.ts';
import { mongoFailure } from './failure.ts';

/** Maximum number of events per link. */
const MAX_LINK = { events: 512, characters: 1024 * 1024 } as const;
/**
 * A server that takes longer counts as away, so that subscribers to live events do not wait for it. In milliseconds.
 */
const PATIENCE_MS = 1000;
const RETRY_MS = 500;
/** Pause when another process's link is written but not yet readable with majority, in milliseconds. */
const UNSEEN_MS = 10;
/** Maximum number of events that wait for a server that is away; the oldest are dropped. */
const MAX_HELD = 10_000;

export interface MongoEventLogOptions extends EventLogOptions {
  readonly database: Db;
  readonly cappedBytes?: number;
}

/**
 * The log that several processes share: events are sent after they are written, to the subscribers of every process in
 * the same order. While the server is away, a process sends its own events at once.
 */
export function createMongoEventLog(options: MongoEventLogOptions): EventLog {
  return new MongoEventLog(options);
}

class MongoEventLog implements EventLog {
  readonly #database: Db;
  readonly #clock: () => number;
  readonly #node: () => number;
  readonly #cappedBytes: number | undefined;
  readonly #ids;
  readonly #owner = randomUUID();
  #publish: Publish = () => {};
  #collection: Collection<EventsDocument> | undefined;
  #tail: FindCursor<EventsDocument> | undefined;

  /** The last known link of the chain. */
  #end = 0;
  /** The id of the newest event that was sent. */
  #sent = 0;
  /** Events neither sent nor known to be written. */
  #queue: EventEntry[] = [];
  /** The first events of the queue, while they are being written; they get new ids when another process was faster. */
  #flying: readonly LoggedEvent[] = [];
  /** Events that were sent while the server was away, and are not known to be written. */
  #held: LoggedEvent[] = [];
  /** True when events were sent that will never be written. */
  #lost = false;
  #away = false;
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ database, clock, node, cappedBytes }: MongoEventLogOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#node = node;
    this.#cappedBytes = cappedBytes;
    this.#ids = createIdSource({ clock, node: node() });
  }

  get unwritten(): number {
    return this.#queue.length + this.#held.length;
  }

  async start(publish: Publish): Promise<number> {
    this.#publish = publish;
    try {
      await this.#open();
    } catch {
      this.#goAway();
      this.#sent = this.#nextId();
      this.#writeLater(RETRY_MS);
    }
    return this.#sent;
  }

  append(event: EventEntry): void {
    this.#queue.push(event);
    if (this.#away) this.#sendUnwritten();
    else this.#write();
  }

  async read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    try {
      const collection = await this.#opened();
      const events: LoggedEvent[] = [];
      let known = after;
      for await (const { _id, prev, events: link } of linksAfter(collection, after)) {
        // The link before this one has been removed.
        if (prev > known) events.push({ id: prev, ...gapEntry('too_old', this.#clock()) });
        events.push(...link.filter(({ id }) => id > after));
        known = _id;
        if (events.length >= limit) break;
      }
      const last = events.at(-1)?.id ?? after;
      return [...events, ...this.#held.filter(({ id }) => id > last)].slice(0, limit);
    } catch (error) {
      throw mongoFailure(error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    clearTimeout(this.#retry);
    if (!this.#away) this.#write();
    await Promise.race([this.#writing, delay(2 * PATIENCE_MS, undefined, { ref: false })]);
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#tail?.close().catch(() => {});
  }

  /** Returns an id greater than `before` and every known id. */
  #nextId(before = 0): number {
    this.#ids.setNode(this.#node());
    // One id stays free for a gap before the event.
    return Math.max(this.#ids.next(), Math.max(before, this.#sent, this.#end) + 2);
  }

  async #opened(): Promise<Collection<EventsDocument>> {
    return this.#collection ?? this.#open();
  }

  async #open(): Promise<Collection<EventsDocument>> {
    const collection = await openEventCollection(this.#database, this.#cappedBytes);
    const newest = await newestLink(collection);
    if (this.#collection !== undefined) return this.#collection;
    this.#end = newest?._id ?? 0;
    this.#sent = Math.max(this.#sent, this.#end);
    this.#collection = collection;
    void this.#follow(collection);
    return collection;
  }

  /** Reads what other processes add, while the log is open. */
  async #follow(collection: Collection<EventsDocument>): Promise<void> {
    while (!this.#closed) {
      this.#tail = awaitLinksAfter(collection, this.#end);
      try {
        for await (const link of this.#tail) this.#accept(link);
      } catch {
        // The server is away, or the position has been removed. Reading the chain again shows which.
      }
      if (!this.#closed) await delay(RETRY_MS, undefined, { ref: false });
    }
  }

  /** Processes the next link: our own (written, or assumed lost), or another process's. */
  #accept(link: EventsDocument): void {
    if (this.#closed || link._id <= this.#end) return;
    const missed = link.prev !== this.#end;
    this.#end = link._id;
    const fresh = link.events.filter(({ id }) => id > this.#sent);
    const isOurs = link.owner === this.#owner;
    if (isOurs) this.#forget(link._id);
    // True when we already sent events of our own with later ids, while the server was away.
    const tooLate = !isOurs && fresh.length < link.events.length;
    if (missed || tooLate) this.#send([{ id: this.#sent + 1, ...gapEntry('not_written', this.#clock()) }]);
    // Our own gaps are for other processes: this process has sent all of the events.
    this.#send(link.events.filter(({ id, type }) => id > this.#sent && !(isOurs && type === GAP)));
    this.#sent = Math.max(this.#sent, this.#end);
  }

  #send(events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    this.#sent = last.id;
    this.#publish(events);
  }

  #write(): void {
    if (this.#closed || this.#writing !== undefined) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#away) this.#writeLater(RETRY_MS);
      else if (this.#queue.length > 0) this.#write();
    });
  }

  #writeLater(delayMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#write(), delayMs).unref();
  }

  async #writeAll(): Promise<void> {
    const impatience = setTimeout(() => this.#goAway(), PATIENCE_MS);
    try {
      const collection = await this.#opened();
      // A link that we do not know may be our own.
      if (this.#away) await this.#catchUp(collection);
      while (this.#held.length > 0 || this.#queue.length > 0 || this.#lost) {
        await this.#writeSome(collection);
        impatience.refresh();
      }
      this.#away = false;
    } catch {
      this.#goAway();
    } finally {
      clearTimeout(impatience);
    }
  }

  async #writeSome(collection: Collection<EventsDocument>): Promise<void> {
    const gap = this.#gapOfLost();
    const held = this.#held.slice(0, lengthOfLink(this.#held));
    if (gap.length + held.length === 0) this.#flying = this.#numbered(lengthOfLink(this.#queue));
    const events = [...gap, ...held, ...this.#flying];
    const last = events.at(-1);
    if (last === undefined) return;
    const link = { _id: last.id, prev: this.#end, owner: this.#owner, events };
    if (await addLink(collection, link)) {
      if (gap.length > 0) this.#lost = false;
      this.#accept(link);
      return;
    }
    this.#flying = [];
    if (!(await this.#catchUp(collection))) await delay(UNSEEN_MS);
  }

  #numbered(count: number): readonly LoggedEvent[] {
    const events: LoggedEvent[] = [];
    for (const entry of this.#queue.slice(0, count)) {
      events.push({ id: this.#nextId(events.at(-1)?.id), ...entry });
    }
    return events;
  }

  /** Forgets the events that are written, up to an id. */
  #forget(written: number): void {
    this.#held = this.#held.filter(({ id }) => id > written);
    if ((this.#flying.at(-1)?.id ?? Number.POSITIVE_INFINITY) > written) return;
    this.#queue.splice(0, this.#flying.length);
    this.#flying = [];
  }

  /** Events whose ids the chain has passed meanwhile cannot be written any more: a gap takes their place. */
  #gapOfLost(): readonly LoggedEvent[] {
    if (this.#held.some(({ id }) => id <= this.#end)) this.#lost = true;
    if (this.#lost) this.#held = this.#held.filter(({ id }) => id > this.#end + 1);
    return this.#lost ? [{ id: this.#end + 1, ...gapEntry('not_written', this.#clock()) }] : [];
  }

  /** Reads the links that are not known yet; false when there are none. */
  async #catchUp(collection: Collection<EventsDocument>): Promise<boolean> {
    const before = this.#end;
    for await (const link of linksAfter(collection, before)) this.#accept(link);
    return this.#end > before;
  }

  #goAway(): void {
    this.#away = true;
    this.#sendUnwritten();
  }

  #sendUnwritten(): void {
    // Events that are being written keep their ids, because the write may have succeeded.
    this.#queue.splice(0, this.#flying.length);
    const unsent = [...this.#flying];
    this.#flying = [];
    for (const entry of this.#queue.splice(0)) unsent.push({ id: this.#nextId(unsent.at(-1)?.id), ...entry });
    this.#held.push(...unsent);
    this.#send(unsent);
    if (this.#held.length <= MAX_HELD) return;
    this.#held = this.#held.slice(-MAX_HELD);
    this.#lost = true;
  }
}

function lengthOfLink(events: readonly EventEntry[]): number {
  let characters = 0;
  const tooMany = events.findIndex(({ body }, index) => {
    characters += body.length;
    return index === MAX_LINK.events || (index > 0 && characters > MAX_LINK.characters);
  });
  return tooMany === -1 ? events.length : tooMany;
}
