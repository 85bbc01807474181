import type { HttpConfig } from '../../config/slices.ts';

/** All keys that are accepted, and the names, rates and scopes of some of them. Without any, requests need no key. */
export type AcceptedKeys = Pick<HttpConfig, 'apiKey' | 'namedKeys'>;

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
    if ((keys.apiKey.length === 0) !== (this.#keys.apiKey.length === 0)) return;
    this.#keys = keys;
    for (const use of this.#users) use(keys);
  }
}
