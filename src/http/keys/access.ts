import type { NamedKey } from '../../capture/named-key.ts';
import { createSessions, type EndedSessions, type Sessions } from '../session/sessions.ts';
import { type CallerFinder, callerFinder } from './callers.ts';
import { KeyRing } from './key-ring.ts';

export interface AccessOptions {
  /** Accepted API keys, including the named ones. When the list is empty, requests need no key. */
  readonly apiKeys: readonly string[];
  /** Names, rates and scopes of some of `apiKeys`. */
  readonly namedKeys?: readonly NamedKey[];
  /** Whether named keys without the scope `admin` see their own captures alone. @default false */
  readonly isolateKeys?: boolean;
  /** The keys, for a program that replaces them later. @default `apiKeys` and `namedKeys` */
  readonly keyRing?: KeyRing;
}

/** The API keys, the sessions in their place, and the callers behind both. */
export interface Access {
  readonly keys: KeyRing;
  readonly sessions: Sessions;
  readonly identify: CallerFinder;
}

/** `ended`: keeps which sessions have ended; without it, no session is accepted. */
export function openAccess(options: AccessOptions, ended: EndedSessions | undefined): Access {
  const { apiKeys, namedKeys = [], isolateKeys = false, keyRing: keys = new KeyRing({ apiKeys, namedKeys }) } = options;
  const sessions = createSessions([], ended);
  let find: CallerFinder = () => undefined;
  keys.follow((accepted) => {
    sessions.setKeys(accepted.apiKeys);
    find = callerFinder(accepted.namedKeys, isolateKeys);
  });
  return { keys, sessions, identify: (client) => find(client) };
}
