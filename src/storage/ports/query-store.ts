/*
 * The port to standing queries: filters over the events, each with a durable cursor. They are stored beside the log
 * whose ids their cursors are: in the database of one process, or in the one that a cluster shares.
 */

import type { Amount } from '../../capture/stored-limits.ts';

export interface NewQuery {
  readonly id: string;
  /** Name of the API key that it belongs to; null without a named key. */
  readonly apiKeyName: string | null;
  /** The filter as JSON. */
  readonly filter: string;
  /** Id of the event after which it begins. */
  readonly position: number;
  /** Names of receivers that are told of what matches. */
  readonly notify: readonly string[];
  /** Id of the newest event: receivers are told of those after it. */
  readonly notifyAfter: number;
  /** Whether it counts towards the share of its key; false when there are no other keys. */
  readonly keysShare: boolean;
}

/** Times are ISO 8601, UTC, with milliseconds. */
export interface QueryRecord extends Omit<NewQuery, 'keysShare'> {
  readonly createdAt: string;
  /** Events up to this id are acknowledged, or do not match. */
  readonly position: number;
  /** Id of the last event that was delivered; at least `position`. */
  readonly delivered: number;
  readonly acknowledgedAt: string | null;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface QueryStore {
  /**
   * Stores a query durably. Rejects with `too_many_queries` when there is no room for it. Processes that share the
   * database count one after another.
   */
  add(query: NewQuery, max?: Amount): Promise<void>;
  /** Returns a query of an API key, or of any. Reads nothing of the queries of other keys. */
  get(id: string, apiKeyName?: string): Promise<QueryRecord | undefined>;
  /** Returns the ids of the queries of which receivers are told. */
  notifying(): Promise<readonly string[]>;
  /** Returns at most `limit` queries, of all keys or one, newest first. */
  newest(limit: number, apiKeyName?: string): Promise<readonly QueryRecord[]>;
  /** Notes that events up to an id are about to be delivered. Returns false when there is no such query. */
  deliver(id: string, upTo: number): Promise<boolean>;
  /** Moves the position to that of a delivered event. Never moves it back. */
  acknowledge(id: string, upTo: number): Promise<void>;
  /** Moves the position over events that do not match, those after `from` up to `to`, unless deliveries are open. */
  pass(id: string, from: number, to: number): Promise<void>;
  /** Returns false when there is no such query. */
  remove(id: string): Promise<boolean>;
}
