/** The client that a capture is made for. */
export interface Client {
  /** Name under which its captures share the queue; null for those that have no share of their own. */
  readonly owner: string | null;
  /** Name of its API key; null for a key without a name, or without a key. */
  readonly apiKeyName: string | null;
  /** Whether it may see no captures but its own, as with `--isolate-keys`. */
  readonly isIsolated: boolean;
}

/** A client without a named key, which sees every capture. */
export const ANY_CLIENT: Client = { owner: null, apiKeyName: null, isIsolated: false };

/** The name of an API key, in the captures and events that belong to it. */
export interface OfKey {
  readonly api_key_name?: string | undefined;
}

/**
 * Returns the API key whose captures alone a client may see; undefined when it may see all. `''`: the captures that no
 * named key requested.
 */
export function visibleKey({ apiKeyName, isIsolated }: Pick<Client, 'apiKeyName' | 'isIsolated'>): string | undefined {
  return isIsolated ? (apiKeyName ?? '') : undefined;
}

/** Returns whether a capture or event belongs to `key`, as `visibleKey` returns it; all do for undefined. */
export function isOfKey({ api_key_name: name = '' }: OfKey, key: string | undefined): boolean {
  return key === undefined || name === key;
}

/** Returns the field of a record, a description or an event; none without a named key. */
export function ofKey(name: string | null | undefined): OfKey {
  return name == null ? {} : { api_key_name: name };
}
