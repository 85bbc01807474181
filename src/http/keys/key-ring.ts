import type { NamedKey } from '../../capture/named-key.ts';

/** The API keys that are accepted. */
export interface AcceptedKeys {
  /** All keys, including the named ones. When the list is empty, requests need no key. */
  readonly apiKeys: readonly string[];
  /** Names, rates and scopes of some of them. */
  readonly namedKeys: readonly NamedKey[];
}

/** The API keys of an application, which may be replaced while it runs. */
export class KeyRing {
  readonly #users: ((keys: AcceptedKeys) => void)[] = [];
  #keys: AcceptedKeys;

  constructor(keys: AcceptedKeys) {
    this.#keys = keys;
  }

  /** Calls `use` with the keys now, and whenever they are replaced. */
  follow(use: (keys: AcceptedKeys) => void): void {
    this.#users.push(use);
    use(this.#keys);
  }

  /** Replaces the keys, for the next request and for sessions. A service that needs keys cannot be opened this way. */
  replace(keys: AcceptedKeys): void {
    if ((keys.apiKeys.length === 0) !== (this.#keys.apiKeys.length === 0)) return;
    this.#keys = keys;
    for (const use of this.#users) use(keys);
  }
}
