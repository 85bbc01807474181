import { setTimeout as delay } from 'node:timers/promises';
import type { EventEntry, EventOutboxFile } from '../storage/ports/event-log.ts';
import { type EventsIn, withoutOldest } from '../storage/records/overflow.ts';
import type { Link } from './connection.ts';
import type { EventStream } from './event-stream.ts';
import { WrittenEvent } from './messages.ts';

/** Maximum number of events that are published at once. */
const MAX_BATCH = 64;
const RETRY_MS = 500;
/** Maximum number of events that wait for NATS; above, the API key with the most loses its oldest. */
const MAX_WAITING = { events: 10_000, characters: Number.POSITIVE_INFINITY };
/** Ends of stored captures are not dropped. */
export const WRITTEN: EventsIn<WrittenEvent> = {
  eventOf: ({ event }) => event,
  gapAt: ({ n }, event) => ({ n, event }),
  isDroppable: ({ key }) => key === undefined,
};

interface EventWriterOptions {
  readonly link: Link;
  readonly stream: EventStream;
  readonly file: EventOutboxFile;
  /** Called with the size of stored events, in bytes. No more events are written until it resolves. */
  readonly onWritten: (bytes: number) => Promise<void>;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Publishes the events of one process in order. While NATS is away they wait in memory and in a file, which the next
 * process on this directory takes over. After an outage, the number of the last stored event says which of them the
 * server has: so none is lost and none is stored twice.
 */
export class EventWriter {
  readonly #options: EventWriterOptions;
  #waiting: WrittenEvent[] = [];
  #last = 0;
  /** The last event in the file; 0 when the file is empty. */
  #filed = 0;
  /** Whether events may be stored although they wait. */
  #isUnsure = true;
  #publishing: Promise<void> | undefined;
  #filing: Promise<void> = Promise.resolve();
  readonly #settled = new Set<() => void>();
  #isClosed = false;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    options.link.observe((isUp) => {
      if (isUp) this.#publishSoon();
      else this.#file();
    });
  }

  /** Number of events that are not known to be stored. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Takes over the events in the file. */
  async recover(): Promise<void> {
    this.#waiting = (await this.#options.file.read()).map((line) => WrittenEvent.parse(JSON.parse(line)));
    this.#last = this.#waiting.at(-1)?.n ?? 0;
    this.#filed = this.#last;
    this.#publishSoon();
  }

  append(event: EventEntry): void {
    this.#last += 1;
    this.#waiting.push({ n: this.#last, event });
    if (this.#waiting.length > MAX_WAITING.events) {
      this.#waiting = withoutOldest(this.#waiting, WRITTEN, MAX_WAITING, Date.now());
    }
    if (this.#options.link.isUp) this.#publishSoon();
    else this.#file();
  }

  /** Resolves when all events appended so far are stored. */
  async stored(): Promise<void> {
    const last = this.#waiting.at(-1)?.n ?? 0;
    while ((this.#waiting[0]?.n ?? Number.POSITIVE_INFINITY) <= last) {
      await new Promise<void>((resolve) => this.#settled.add(resolve));
    }
  }

  /** Publishes what it can, and leaves the rest in the file. */
  async close(): Promise<void> {
    await this.#publishing;
    this.#isClosed = true;
    this.#file();
    await this.#filing;
    await this.#options.file.close();
  }

  #publishSoon(): void {
    if (this.#isClosed || !this.#options.link.isUp || this.#waiting.length === 0) return;
    this.#publishing ??= this.#publishAll()
      .catch(async () => {
        this.#isUnsure = true;
        this.#file();
        if (this.#options.link.isUp) await delay(RETRY_MS);
      })
      .finally(() => {
        this.#publishing = undefined;
        this.#publishSoon();
      });
  }

  async #publishAll(): Promise<void> {
    const { stream, file, onWritten } = this.#options;
    if (this.#isUnsure) {
      await stream.ensure();
      const stored = await stream.lastBy(file.name);
      this.#waiting = this.#waiting.filter(({ n, event }) => n > stored || event.key !== undefined);
      this.#last = Math.max(this.#last, stored);
      this.#isUnsure = false;
    }
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_BATCH);
      const results = await Promise.allSettled(batch.map((written) => stream.publish(file.name, written)));
      const stored = new Set(batch.filter((_, at) => results[at]?.status === 'fulfilled'));
      this.#waiting = this.#waiting.filter((written) => !stored.has(written));
      this.#settle();
      await onWritten(results.reduce((sum, result) => sum + (result.status === 'fulfilled' ? result.value : 0), 0));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    if (this.#filed > 0) {
      this.#filed = 0;
      await this.#inOrder(() => file.clear());
    }
    this.#settle();
  }

  #settle(): void {
    for (const resolve of this.#settled) resolve();
    this.#settled.clear();
  }

  /** Appends to the file what is not in it. */
  #file(): void {
    const fresh = this.#waiting.filter(({ n }) => n > this.#filed);
    if (fresh.length === 0) return;
    this.#filed = fresh.at(-1)?.n ?? this.#filed;
    void this.#inOrder(() => this.#options.file.append(fresh.map((written) => JSON.stringify(written))));
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#filing = this.#filing.then(work).catch(this.#options.onProblem);
    return this.#filing;
  }
}
