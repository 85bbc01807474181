/* The port to receivers of messages that API keys have added. */

export interface GivenReceiver {
  /** Name of the API key; null without a named key. */
  readonly apiKeyName: string | null;
  readonly name: string;
  /** Kind, address and pace, as JSON. */
  readonly body: string;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface ReceiverStore {
  /** Stores a receiver. False: the key has one of this name. Rejects with `too_many_receivers` without room. */
  add(receiver: GivenReceiver, keysShare: boolean): Promise<boolean>;
  get(apiKeyName: string | null, name: string): Promise<GivenReceiver | undefined>;
  /** Returns those of an API key, or of all, by name. */
  list(ofKey: string | undefined): Promise<readonly GivenReceiver[]>;
  /** False: there is none. */
  remove(apiKeyName: string | null, name: string): Promise<boolean>;
}
