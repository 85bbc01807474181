import type { Page } from './document-store.ts';
import type { HeldLock } from './lock.ts';

/*
 * The port to messages that wait for their receivers. They are stored beside the log whose events they tell: in the
 * database of one process, or in the one that a cluster shares. One process at a time adds and delivers them, by
 * `lock`. Times are milliseconds since 1970.
 */

export interface NewDelivery {
  /** Id of the message: the same for the same event and receiver, which are stored once. */
  readonly id: string;
  readonly receiver: string;
  /** Name of the API key of the event; null without a named key. */
  readonly apiKeyName: string | null;
  /** Messages of one lane are delivered one after the other, by position. */
  readonly lane: string;
  /** Id of the event. */
  readonly position: number;
  /** Time of the event. */
  readonly createdAt: number;
  /** Type of the event. */
  readonly about: string;
  /** The event as JSON. */
  readonly event: string;
  /** Address, for receivers that only a request names. */
  readonly url?: string | undefined;
}

export interface StoredDelivery extends NewDelivery {
  readonly attempts: number;
  /** Earliest time of the next attempt. */
  readonly dueAt: number;
  /** Why the last attempt failed, and its HTTP status. */
  readonly reason: string;
  readonly status: number | null;
}

/** Why an attempt failed. */
export type FailedAttempt = Pick<StoredDelivery, 'attempts' | 'dueAt' | 'reason' | 'status'>;

interface NextWanted {
  readonly exceptLanes: readonly string[];
  /** Id of the last event to return messages about. */
  readonly upTo: number;
  readonly limit: number;
}

export interface DeadWanted {
  /** The receiver, or with `isPrefix` all whose name begins so. */
  readonly receiver: string;
  readonly isPrefix: boolean;
  /** Name of the API key; undefined for all. */
  readonly ofKey: string | undefined;
}

/** Where a dead letter is in a list. */
export type LetterPlace = Pick<StoredDelivery, 'position' | 'id'>;

/** Methods reject with `database_unavailable` when they cannot answer. */
export interface DeliveryStore {
  /** Whether messages outlive the process. */
  readonly isDurable: boolean;
  /** Undefined while another process delivers. */
  lock(): Promise<HeldLock | undefined>;
  /** Returns the id up to which events were looked at; undefined before the first receiver. */
  cursor(): Promise<number | undefined>;
  setCursor(position: number): Promise<void>;
  /** Returns the messages for which there is no room. `keysShare`: whether API keys share the places. */
  add(deliveries: readonly NewDelivery[], keysShare: boolean): Promise<readonly NewDelivery[]>;
  /** Returns the receivers for which messages wait, and their number: of an API key, or of all. */
  waiting(ofKey?: string): Promise<ReadonlyMap<string, number>>;
  /** Returns the receivers that have dead letters, and their number: of an API key, or of all. */
  buried(ofKey?: string): Promise<ReadonlyMap<string, number>>;
  /** Returns waiting messages, oldest first. */
  next(receiver: string, wanted: NextWanted): Promise<readonly StoredDelivery[]>;
  /** Returns the ids of waiting messages about events up to the id `upTo` and before a time, oldest first. */
  before(receiver: string, time: number, upTo: number): Promise<readonly string[]>;
  /** Returns waiting messages, oldest first. */
  read(ids: readonly string[]): Promise<readonly StoredDelivery[]>;
  /** Notes a failed attempt. */
  retry(delivery: StoredDelivery, failed: FailedAttempt): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Makes a message a dead letter. Removes the oldest ones of its receiver beyond the limit. */
  bury(delivery: StoredDelivery, failed: FailedAttempt): Promise<void>;
  /**
   * Returns at most `limit` dead letters, and fewer when they are large, oldest first; those that follow `after`.
   * Several may tell of one event.
   */
  dead(wanted: DeadWanted, limit: number, after?: LetterPlace): Promise<Page<StoredDelivery>>;
  /** Lets the oldest dead letters wait again, or the one with an id. Returns the receiver of each. */
  revive(wanted: DeadWanted, which: { readonly limit: number; readonly id?: string }): Promise<readonly string[]>;
  state(receiver: string): Promise<string | undefined>;
  /** Returns the stored states of receivers, by their names. */
  states(receivers: readonly string[]): Promise<ReadonlyMap<string, string>>;
  setState(receiver: string, state: string): Promise<void>;
  /** Removes all messages of a receiver. */
  removeReceiver(receiver: string): Promise<void>;
  /** Removes dead letters about events before a time, and states of receivers that were stored before it. */
  prune(before: number): Promise<void>;
}
