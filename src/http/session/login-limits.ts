import ipaddr from 'ipaddr.js';
import { CapstanError } from '../../capture/errors.ts';
import { createRateLimits } from '../keys/rate-limits.ts';

/** Logins a minute with a wrong key, from one address: a person who mistypes needs fewer. */
const MAX_WRONG = 10;
/** Sessions a minute that may begin with one key. It bounds the memory for ended sessions, which are remembered. */
const MAX_BEGUN = 60;

export type LoginLimits = ReturnType<typeof createLoginLimits>;

/** Limits logins, in this process. `now`: milliseconds. */
export function createLoginLimits(now: () => number) {
  const rates = createRateLimits(now);
  const tooMany = (reason: string, retryAfterSeconds: number) =>
    new CapstanError('too_many_logins', reason, { retryAfterSeconds });
  return {
    /** @throws `too_many_logins` after too many wrong logins from this address, also when the key is right. */
    refuse(address: string): void {
      const { remaining, limit, resetSeconds } = rates.take(networkOf(address), MAX_WRONG, 0);
      if (remaining > 0) return;
      throw tooMany(`${limit} logins from this address had a wrong key.`, Math.ceil(resetSeconds / limit));
    },
    /** Counts a login with a wrong key. */
    wrong: (address: string) => void rates.take(networkOf(address), MAX_WRONG, 1),
    /** Counts a login. `client`: SHA-256 of the key. @throws `too_many_logins` */
    right(client: string): void {
      const { retryAfterSeconds, limit } = rates.take(client, MAX_BEGUN, 1);
      if (retryAfterSeconds === 0) return;
      throw tooMany(`${limit} sessions have begun with this API key within a minute.`, retryAfterSeconds);
    },
  };
}

/** Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address, of which a client has all the others. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
