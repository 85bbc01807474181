import { createSessions, type EndedSessions, type Sessions } from '../session/sessions.ts';
import { type CallerFinder, callerFinder } from './callers.ts';
import type { KeyRing } from './key-ring.ts';

/** The API keys, the sessions in their place, and the callers behind both. */
export interface Access {
  readonly keys: KeyRing;
  readonly sessions: Sessions;
  readonly identify: CallerFinder;
}

/** `ended`: keeps which sessions have ended; without it, no session is accepted. */
export function openAccess(keys: KeyRing, isolateKeys: boolean, ended: EndedSessions | undefined): Access {
  const sessions = createSessions([], ended);
  let find: CallerFinder = () => undefined;
  keys.follow((accepted) => {
    sessions.setKeys(accepted.apiKey);
    find = callerFinder(accepted.namedKeys, isolateKeys);
  });
  return { keys, sessions, identify: (client) => find(client) };
}
