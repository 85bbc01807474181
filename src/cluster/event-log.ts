import { randomBytes } from 'node:crypto';
import {
  type EventEntry,
  type EventLog,
  type EventOutbox,
  type EventOutboxFile,
  gapEntry,
  isFullPage,
  type LoggedEvent,
  type Publish,
} from '../storage/ports/event-log.ts';
import { AwayError, type Link } from './connection.ts';
import { EventStream, type Republished } from './event-stream.ts';
import { EventTrimmer } from './event-trimmer.ts';
import { EventWriter } from './event-writer.ts';

/** Events in each page that is read after an outage. */
const PAGE = 200;
/** Events that are asked for at once: each may have 1 MiB. */
const READ_TOGETHER = 25;
const RETRY_MS = 500;

interface ClusterEventLogOptions {
  readonly link: Link;
  readonly outbox: EventOutbox;
  readonly clock: () => number;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The log that the processes of a cluster share. Events are sent as the stream returns them, to the subscribers of
 * every api node in the same order: each event that was sent can be replayed. While NATS is away, none is sent.
 */
export class ClusterEventLog implements EventLog {
  readonly #options: ClusterEventLogOptions;
  readonly #stream: EventStream;
  readonly #trimmer: EventTrimmer;
  readonly #started = Promise.withResolvers<number>();
  #writers: Promise<readonly EventWriter[]>;
  #writer: EventWriter | undefined;
  #early: EventEntry[] = [];
  #publish: Publish | undefined;
  /** Added to a sequence number, gives an id; undefined until the stream is known. */
  #base: number | undefined;
  /** Sequence numbers: of the newest event that was sent, and of the newest one that is known. */
  #sent = 0;
  #known = 0;
  #isCatchingUp = false;
  #isClosed = false;
  readonly #waitingForNats = new Set<() => void>();

  constructor(options: ClusterEventLogOptions) {
    this.#options = options;
    this.#stream = new EventStream(options.link);
    this.#trimmer = new EventTrimmer(options.link, this.#stream);
    this.#writers = this.#openWriters();
    options.link.observe((isUp) => {
      if (!isUp) return;
      for (const go of this.#waitingForNats) go();
      this.#waitingForNats.clear();
    });
  }

  /** Call it after each connection. */
  async ensure(): Promise<void> {
    if (this.#publish === undefined) await this.#stream.ensure();
    else void this.#catchUp();
  }

  start(publish: Publish): Promise<number> {
    this.#publish = publish;
    this.#stream.follow((republished) => this.#hear(republished));
    if (this.#options.link.isUp) void this.#catchUp();
    return this.#started.promise;
  }

  append(event: EventEntry): void {
    if (this.#writer === undefined) this.#early.push(event);
    else this.#writer.append(event);
  }

  get unwritten(): number {
    return this.#early.length + (this.#writer?.waiting ?? 0);
  }

  /** Resolves when all events appended so far are stored. */
  async allStored(): Promise<void> {
    await this.#writers;
    await this.#writer?.stored();
  }

  /** Only stored events are published. */
  publishedStored(): Promise<void> {
    return Promise.resolve();
  }

  /** Waits while NATS is away. */
  async read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    for (;;) {
      try {
        return await this.#read(after, limit);
      } catch (error) {
        if (this.#isClosed) return [];
        if (!(error instanceof AwayError)) this.#options.onProblem(error);
        await this.#retry();
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all((await this.#writers).map((writer) => writer.close()));
    for (const go of this.#waitingForNats) go();
    this.#started.resolve(0);
  }

  async #openWriters(): Promise<readonly EventWriter[]> {
    const { outbox, link, onProblem } = this.#options;
    const open = { link, stream: this.#stream, onProblem, onWritten: (bytes: number) => this.#written(bytes) };
    const left = await outbox.adopt().catch((error: unknown) => {
      onProblem(error);
      return [];
    });
    const adopted = left.map((file) => new EventWriter({ ...open, file }));
    const file = await outbox.create().catch((error: unknown) => {
      onProblem(error);
      return withoutFile();
    });
    const own = new EventWriter({ ...open, file });
    await Promise.all(adopted.map((writer) => writer.recover()));
    this.#writer = own;
    for (const event of this.#early.splice(0)) own.append(event);
    return [own, ...adopted];
  }

  /** Makes room in the stream, unless this process is a worker, which may not. */
  async #written(bytes: number): Promise<void> {
    if (this.#publish === undefined || this.#isClosed) return;
    await this.#trimmer.written(bytes).catch((error: unknown) => {
      if (!(error instanceof AwayError)) this.#options.onProblem(error);
    });
  }

  async #read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    const base = this.#base ?? (await this.#stream.state()).base;
    // An id below the base is of an earlier stream, whose events are gone.
    const from = Math.max(0, after - base);
    const events = await this.#readAfter(from, limit, base);
    if (events[0]?.id === base + from + 1 && (after === 0 || after >= base)) return events;
    const { first } = await this.#stream.state();
    if (first <= from + 1 && (after === 0 || after >= base)) return events;
    const gap = { id: base + Math.max(first - 1, from), ...gapEntry('too_old', this.#options.clock()) };
    return [gap, ...events.filter(({ id }) => id > gap.id)];
  }

  /** Skips the positions of removed events, however many there are. */
  async #readAfter(from: number, limit: number, base: number): Promise<readonly LoggedEvent[]> {
    const to = (first: number) => Math.min(first + limit - 1, this.#sent);
    const events = from < this.#sent ? await this.#readPage(from + 1, to(from + 1), base) : [];
    if (events.length > 0 || to(from + 1) >= this.#sent) return events;
    const next = await this.#stream.next(to(from + 1) + 1);
    return next === undefined || next > this.#sent ? [] : this.#readPage(next, to(next), base);
  }

  async #readPage(first: number, last: number, base: number): Promise<readonly LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    for (let at = first; at <= last && !isFullPage(events); at += READ_TOGETHER) {
      events.push(...(await this.#stream.read(at, Math.min(last, at + READ_TOGETHER - 1), base)));
    }
    return events;
  }

  #hear({ sequence, event }: Republished): void {
    this.#known = Math.max(this.#known, sequence);
    if (this.#base === undefined || this.#isCatchingUp) return;
    if (sequence === this.#sent + 1) this.#send([{ id: this.#base + sequence, ...event }]);
    // The first event of a stream that was created again.
    else if (sequence > this.#sent || sequence === 1) void this.#catchUp();
  }

  #send(events: readonly LoggedEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    this.#sent = last.id - (this.#base ?? 0);
    this.#publish?.(events);
  }

  /** Sends what was stored while this process was not connected, or before it was ready. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    while (!this.#isClosed) {
      try {
        await this.#catchUpOnce();
        break;
      } catch (error) {
        if (!(error instanceof AwayError)) this.#options.onProblem(error);
        await this.#retry();
      }
    }
    this.#isCatchingUp = false;
    if (this.#known > this.#sent && !this.#isClosed) void this.#catchUp();
  }

  async #catchUpOnce(): Promise<void> {
    await this.#stream.ensure();
    const { base, first, last } = await this.#stream.state();
    if (base !== this.#base) {
      const isFirst = this.#base === undefined;
      this.#base = base;
      this.#known = last;
      this.#sent = isFirst ? last : 0;
      if (isFirst) this.#started.resolve(base + last);
    }
    this.#known = Math.max(this.#known, last);
    if (first > this.#sent + 1) this.#send([{ id: base + first - 1, ...gapEntry('too_old', this.#options.clock()) }]);
    while (this.#sent < this.#known) {
      const upTo = Math.min(this.#sent + PAGE, this.#known);
      const events = await this.#stream.read(this.#sent + 1, upTo, base);
      this.#send(events);
      this.#sent = upTo;
    }
  }

  /** Waits until NATS is back, or for a moment while it is there. */
  #retry(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) return resolve();
      if (this.#options.link.isUp) setTimeout(resolve, RETRY_MS).unref();
      else this.#waitingForNats.add(resolve);
    });
  }
}

/** Stands in for a file that cannot be created, as on a full disk. */
function withoutFile(): EventOutboxFile {
  return {
    name: randomBytes(8).toString('hex'),
    append: () => Promise.resolve(),
    read: () => Promise.resolve([]),
    clear: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
