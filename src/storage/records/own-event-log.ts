import { CapstanError } from '../../capture/errors.ts';
import { BackgroundPasses } from '../passes/background-passes.ts';
import {
  charactersOf,
  type EventEntry,
  type EventLog,
  type EventLogOptions,
  gapEntry,
  isFullPage,
  type LoggedEvent,
  type Publish,
} from '../ports/event-log.ts';
import { createIdSource } from './ids.ts';
import { type EventsIn, type WaitingBounds, withoutOldest } from './overflow.ts';

/**
 * Time for which events are gathered before a write, in milliseconds. A crash loses them; the next start reports a gap.
 */
const GATHER_MS = 50;
const MAX_WRITE = 512;
/** Number of the newest rows of a killed process whose keys are compared with those of new events. */
const COMPARED_KEYS = 5000;
/** Maximum number of events that wait for a database that is away; the API key with the most loses its oldest. */
const WAITING: WaitingBounds = { events: 10_000, characters: 16 * 1024 * 1024 };
const LOGGED: EventsIn<LoggedEvent> = {
  eventOf: (event) => event,
  gapAt: ({ id }, gap) => ({ id, ...gap }),
  isDroppable: () => true,
};

/** The last row of a log whose process ended normally. */
export const CLOSED = 'closed';

/** The table of rows. Every method rejects with a `CapstanError` when it fails. */
export interface EventTable {
  /** Stores the rows, all or none; existing ids are ignored. Removes the oldest rows above the limit. */
  append(rows: readonly LoggedEvent[]): Promise<void>;
  /** Returns rows, except those that mark the end of a process; fewer than `limit` when they are a full page. */
  read(after: number, limit: number): Promise<readonly LoggedEvent[]>;
  newest(): Promise<{ readonly id: number; readonly type: string } | undefined>;
  /** Returns the keys of the newest `rows` rows; a row may have none. */
  newestKeys(rows: number): Promise<readonly string[]>;
}

export interface OwnEventLogOptions extends EventLogOptions {
  /** The table to store events in; null when none are stored. */
  readonly table: EventTable | null;
  readonly waiting?: WaitingBounds;
}

/** The log of one process: ids come from its own clock, events are sent at once and written a little later. */
export class OwnEventLog implements EventLog {
  readonly #table: EventTable | null;
  readonly #clock: () => number;
  readonly #node: () => number;
  readonly #bounds: WaitingBounds;
  readonly #ids;
  #publish: Publish = () => {};
  #last = 0;
  #waiting: LoggedEvent[] = [];
  #characters = 0;
  /** Settled with the next write. */
  #nextWrite: PromiseWithResolvers<void> | undefined;
  /** Keys of events that a killed process has logged. Work that it had begun reports them again. */
  #logged = new Set<string>();
  /** True when the rows of earlier processes have been read. */
  #opened = false;
  readonly #writes = new BackgroundPasses(
    () => this.#write(),
    () => this.#waiting.length > 0,
  );

  constructor({ table, clock, node, waiting = WAITING }: OwnEventLogOptions) {
    this.#table = table;
    this.#clock = clock;
    this.#node = node;
    this.#bounds = waiting;
    this.#ids = createIdSource({ clock, node: node() });
  }

  get unwritten(): number {
    return this.#waiting.length;
  }

  async start(publish: Publish): Promise<number> {
    this.#publish = publish;
    if (this.#table === null) return this.#nextId();
    try {
      return await this.#open(this.#table);
    } catch {
      return this.#nextId();
    }
  }

  append(event: EventEntry): void {
    if (event.key !== undefined && this.#logged.has(event.key)) return;
    const logged = { id: this.#nextId(), ...event };
    if (this.#table !== null) this.#wait(logged);
    this.#publish([logged]);
  }

  async read(after: number, limit: number): Promise<readonly LoggedEvent[]> {
    if (this.#table === null) throw new CapstanError('database_not_enabled');
    // Copied before the table is read: an event that is written meanwhile is in the copy or in the table.
    const waiting = [...this.#waiting];
    const rows = await this.#table.read(after, limit);
    // More rows may follow those of a full page, before the ones that wait.
    if (isFullPage(rows)) return rows;
    const last = rows.at(-1)?.id ?? after;
    return [...rows, ...waiting.filter(({ id }) => id > last)].slice(0, limit);
  }

  async publishedStored(): Promise<void> {
    if (this.#table === null) throw new CapstanError('database_not_enabled');
    const last = this.#waiting.at(-1)?.id ?? 0;
    while ((this.#waiting[0]?.id ?? Number.POSITIVE_INFINITY) <= last) {
      this.#nextWrite ??= Promise.withResolvers();
      await this.#nextWrite.promise;
    }
  }

  allStored(): Promise<void> {
    // Written at once, because a client's answer waits for this write.
    if (this.#waiting.length > 0) this.#writes.hasten();
    return this.publishedStored();
  }

  async close(): Promise<void> {
    if (this.#writes.stopped) return;
    await this.#writes.stop();
    const table = this.#table;
    if (table === null) return;
    try {
      await this.#write();
      await table.append([{ id: this.#nextId(), type: CLOSED, host: null, batch: null, body: '' }]);
    } catch {
      // Without an end row, the next start reports that events may be missing.
    }
  }

  #nextId(): number {
    this.#ids.setNode(this.#node());
    // Ids must not go back when the clock was set back.
    this.#last = Math.max(this.#ids.next(), this.#last + 1);
    return this.#last;
  }

  #wait(event: LoggedEvent): void {
    this.#waiting.push(event);
    this.#characters += charactersOf(event);
    if (this.#waiting.length > this.#bounds.events || this.#characters > this.#bounds.characters) {
      this.#keepWaiting(withoutOldest(this.#waiting, LOGGED, this.#bounds, this.#clock()));
    }
    this.#writes.plan(GATHER_MS);
  }

  /** The database itself reports its state, so the failure is not logged here. */
  async #write(): Promise<void> {
    const table = this.#table;
    if (table === null) return;
    try {
      if (!this.#opened) await this.#open(table);
      while (this.#waiting.length > 0) await this.#writeSome(table);
    } catch (error) {
      this.#nextWrite?.reject(error);
      this.#nextWrite = undefined;
      throw error;
    }
  }

  async #writeSome(table: EventTable): Promise<void> {
    const rows = this.#waiting.slice(0, MAX_WRITE);
    await table.append(rows);
    const written = rows.at(-1)?.id ?? 0;
    this.#keepWaiting(this.#waiting.filter(({ id }) => id > written));
    this.#nextWrite?.resolve();
    this.#nextWrite = undefined;
  }

  #keepWaiting(waiting: LoggedEvent[]): void {
    this.#waiting = waiting;
    this.#characters = waiting.reduce((sum, event) => sum + charactersOf(event), 0);
  }

  /** Returns the newest id of the log. */
  async #open(table: EventTable): Promise<number> {
    const newest = await table.newest();
    if (newest === undefined) {
      this.#opened = true;
      return 0;
    }
    this.#last = Math.max(this.#last, newest.id);
    const first = this.#waiting[0]?.id;
    // The id must be below that of the first event of this process.
    const id = first === undefined ? this.#nextId() : first - 1;
    const abrupt = newest.type !== CLOSED && newest.id < id;
    if (abrupt) {
      this.#logged = new Set(await table.newestKeys(COMPARED_KEYS));
      await table.append([{ id, ...gapEntry('ended_abruptly', this.#clock()) }]);
    }
    this.#opened = true;
    return abrupt ? id : newest.id;
  }
}
