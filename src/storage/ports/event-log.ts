/*
 * The log of events, from which subscribers that were away replay. It also defines the order: an event is sent once the
 * log has given it an id. That is at once where one process owns the log (`records/own-event-log.ts`), and after it was
 * stored where the processes of a cluster share one (`cluster/event-log.ts`).
 */

import type { OfKey } from '../../capture/client.ts';
import type { Recipients } from '../../capture/events.ts';
import { REQUEST_LIMITS } from '../../capture/request-limits.ts';

/** An event as it is stored and sent. */
export interface EventEntry {
  /** Its type, or `GAP` for events that are missing in the log. */
  readonly type: string;
  /** The target's host, for events that have one. */
  readonly host: string | null;
  readonly batch: string | null;
  /** Name of the API key that requested the capture or batch; left out without a named key. */
  readonly api_key_name?: string | undefined;
  /** The JSON that subscribers receive, serialised once for all of them. */
  readonly body: string;
  /** The packed words of the page of its capture, for filters; they are not sent. */
  readonly words?: string | undefined;
  /** The receivers that are told of this event, if any; subscribers are not sent them. */
  readonly to?: Recipients | undefined;
  /** Names an event that several processes of a cluster may report; it is stored once. No space, dot or wildcard. */
  readonly key?: string | undefined;
}

export interface LoggedEvent extends EventEntry {
  /** Increases from event to event, also across a restart; below 2^53. */
  readonly id: number;
}

/** The type of an entry in place of missing events. */
export const GAP = 'gap';

/** Minimum number of events that a log keeps. Of more, the API key with the most events loses its oldest. */
export const KEPT_EVENTS = 100_000;

/** Called with events in the order of their ids, once each. */
export type Publish = (events: readonly LoggedEvent[]) => void;

export interface EventLogOptions {
  /** Milliseconds since the Unix epoch. */
  readonly clock: () => number;
  /** Returns the node number for new ids (see `ids.ts`); read for each id, because leases come and go. */
  readonly node: () => number;
}

/**
 * How much a log can lose: a process that is killed loses at most the events of its last 50 ms, which a `gap` marks; a
 * power cut loses those since the last sync of the database. In a cluster, a killed process loses events that were
 * neither sent nor stored, but none of a capture that is stored.
 */
export interface EventLog {
  /**
   * Starts the log. Resolves with an id: events after it are passed to `publish`, events up to it can only be read.
   * Never rejects. The log of a cluster resolves when NATS is reached, the others at once.
   */
  start(publish: Publish): Promise<number>;
  /** Appends an event. Never throws, and does not wait for a database. */
  append(event: EventEntry): void;
  /**
   * Returns at most `limit` entries that follow an id, oldest first, and fewer when they are large (`isFullPage`); none
   * when nothing follows. Rejects with a `CapstanError` when there is no database or it is away.
   */
  read(after: number, limit: number): Promise<readonly LoggedEvent[]>;
  /**
   * Resolves when every event that was published so far is stored, so that it can be read after the process was killed.
   * Rejects when it cannot be stored now.
   */
  publishedStored(): Promise<void>;
  /** As `publishedStored`, with events that were appended and not published yet. */
  allStored(): Promise<void>;
  /** Number of events that wait to be written. */
  readonly unwritten: number;
  /** Writes what can still be written. */
  close(): Promise<void>;
}

export type GapReason = 'too_old' | 'not_written' | 'ended_abruptly' | 'unknown_id';

const TEXTS: Readonly<Record<GapReason, string>> = {
  too_old: 'Older events are not kept any more.',
  not_written: 'Events could not be written while the database was away.',
  ended_abruptly: 'The service ended abruptly: its last events may be missing.',
  unknown_id: 'No event with this id is known: events that followed it may be missing.',
};

/**
 * Events on disk that wait for the log of a cluster. Each file has a name of its own, and belongs to the process that
 * writes it, or that found it after its process had ended.
 */
export interface EventOutbox {
  /** Creates the file of this process, when it is first written. */
  create(): Promise<EventOutboxFile>;
  /** Takes over the files of ended processes. */
  adopt(): Promise<readonly EventOutboxFile[]>;
}

export interface EventOutboxFile {
  readonly name: string;
  append(lines: readonly string[]): Promise<void>;
  /** Returns the lines, except one that was cut off. */
  read(): Promise<readonly string[]>;
  clear(): Promise<void>;
  /** Releases the file; removes it when it is empty. */
  close(): Promise<void>;
}

/**
 * Returns an entry in place of missing events. `at`: milliseconds since the Unix epoch. `owner`: the API key whose
 * events are missing; without one, events of any key may be.
 */
export function gapEntry(reason: GapReason, at: number, owner: OfKey = {}): EventEntry {
  const body = JSON.stringify({ v: 1, type: GAP, at: new Date(at).toISOString(), reason, text: TEXTS[reason] });
  return { type: GAP, host: null, batch: null, ...owner, body };
}

/** Returns the number of characters that an event takes in memory. */
export function charactersOf({ body, words = '' }: EventEntry): number {
  return body.length + words.length;
}

/** Whether events that are read together are so large that the page ends with them. */
export function isFullPage(events: readonly EventEntry[]): boolean {
  return events.reduce((sum, event) => sum + charactersOf(event), 0) >= REQUEST_LIMITS.readTogether.max;
}
