/*
 * The log of events: what a subscriber that was away reads. It also decides the order: an event may be sent when the
 * log has given it its id, which is at once where one process owns the log, and when it is written where several share
 * it.
 */

/** An event as it is kept and sent. */
export interface EventEntry {
  /** Its type, or `GAP`: events that stood here are not in the log. */
  readonly type: string;
  /** The target's, of events that have one. */
  readonly host: string | null;
  readonly batch: string | null;
  /** The JSON that subscribers get: made once for all of them. */
  readonly body: string;
}

export interface LoggedEvent extends EventEntry {
  /** Grows from one event to the next, also from one process to its successor; below 2^53. */
  readonly id: number;
}

/** The type of the entry that stands where others are missing. */
export const GAP = 'gap';

/** Events that a log keeps at least, before the oldest go. */
export const KEPT_EVENTS = 100_000;

/** Called with events in the order of their ids; none is passed twice. */
export type Publish = (events: readonly LoggedEvent[]) => void;

export interface EventLogOptions {
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Node number of new ids (see `ids.ts`): read for each id, because leases come and go. */
  readonly node: () => number;
}

export interface EventLog {
  /**
   * Begins. Resolves with an id: what comes after it is passed to `publish`, what came up to it can only be read.
   * Never rejects: a database that is away is tried again.
   */
  start(publish: Publish): Promise<number>;
  /** Takes the next event. Never throws, and nobody waits for a database. */
  append(event: EventEntry): void;
  /**
   * At most `limit` entries behind an id, oldest first. None: there is nothing behind it. Rejects with a `CapstanError`
   * when that cannot be said: there is no database, or it is away.
   */
  read(after: number, limit: number): Promise<readonly LoggedEvent[]>;
  /** Writes what can still be written. */
  close(): Promise<void>;
}

export type GapReason = 'too_old' | 'not_written' | 'ended_abruptly' | 'unknown_id';

const TEXTS: Readonly<Record<GapReason, string>> = {
  too_old: 'Older events are not kept any more.',
  not_written: 'Events could not be written while the database was away.',
  ended_abruptly: 'The service ended abruptly: its last events may be missing.',
  unknown_id: 'This id is none of these events: what came after it cannot be said.',
};

/** What stands where events are missing. `at`: milliseconds since the epoch. */
export function gapEntry(reason: GapReason, at: number): EventEntry {
  const body = JSON.stringify({ v: 1, type: GAP, at: new Date(at).toISOString(), reason, text: TEXTS[reason] });
  return { type: GAP, host: null, batch: null, body };
}
