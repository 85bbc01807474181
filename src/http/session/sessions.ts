import { createHash, createHmac, hkdfSync, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { IdempotencyStore } from '../../storage/ports/idempotency-store.ts';

/** Twelve hours: a working day. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
/** Time for which an ended session is kept, in milliseconds: until it has expired also where clocks differ. */
const ENDED_MS = 2 * SESSION_MS;
/** Sessions that continue while the database is away. */
const MAX_ACCEPTED = 10_000;

/**
 * Keeps the sessions that have ended, each as a claimed key, for all processes with the same database. Methods reject
 * with `database_unavailable` when it is away.
 */
export type EndedSessions = Pick<IdempotencyStore, 'claim' | 'isClaimed'>;

export type Sessions = ReturnType<typeof createSessions>;

export interface Session {
  /** The value of the cookie. */
  readonly token: string;
  /** SHA-256 of the key, in hex. */
  readonly client: string;
}

interface KnownKey {
  readonly client: string;
  readonly digest: Buffer;
  /** Signs the sessions of this key, so that they end when the key is no longer configured. */
  readonly signer: Buffer;
}

/** Claims of a token whose signature is right. */
interface Claims {
  readonly client: string;
  /** The random part, which identifies the session. */
  readonly id: string;
  readonly expiry: number;
}

/**
 * Sessions of the web interface, which a browser keeps in place of an API key.
 *
 * A token is signed instead of stored: `<expiry>.<random>.<HMAC-SHA256>`, with a secret that is derived from the API
 * key. So sessions survive a restart, and every process with the same keys and the same database (`store`) accepts
 * them. Without a database, no list of ended sessions survives a restart, so no session does.
 */
export function createSessions(
  apiKeys: readonly string[],
  store: EndedSessions | undefined,
  now: () => number = Date.now,
) {
  const salt = store === undefined ? randomBytes(32) : Buffer.alloc(0);
  let keys = apiKeys.map((key) => knownKey(key, salt));
  /** When sessions that have ended in this process expire: until then they are remembered. */
  const ended = new Map<string, number>();
  /** Sessions that had not ended when the database was last asked. */
  const accepted = new LRUCache<string, true>({ max: MAX_ACCEPTED });

  const forgetExpired = (): void => {
    for (const [id, expiry] of ended) if (expiry <= now()) ended.delete(id);
  };

  const verified = (token: string): Claims | undefined => {
    const [written = '', id = '', signature = '', ...more] = token.split('.');
    const given = Buffer.from(signature, 'base64url');
    const known = keys.find((each) => {
      const right = signed(`${written}.${id}`, each);
      return given.length === right.length && timingSafeEqual(given, right);
    });
    const expiry = Number.parseInt(written, 36);
    return known === undefined || more.length > 0 || expiry <= now() ? undefined : { client: known.client, id, expiry };
  };

  const hasEnded = async (id: string): Promise<boolean> => {
    if (ended.has(id)) return true;
    try {
      if (await store?.isClaimed(keyOf(id))) return true;
      accepted.set(id, true);
      return false;
    } catch (error) {
      if (accepted.has(id)) return false;
      throw error;
    }
  };

  return {
    /** Whether clients need a key. */
    get required() {
      return keys.length > 0;
    },
    /** Replaces the keys: sessions of a key that is gone end. */
    setKeys: (next: readonly string[]): void => {
      keys = next.map((key) => knownKey(key, salt));
    },
    /** Begins a session; undefined when the key is none of the configured ones. */
    begin(key: string): Session | undefined {
      const digest = sha256(key);
      const known = keys.reduce<KnownKey | undefined>(
        (found, each) => (timingSafeEqual(each.digest, digest) ? each : found),
        undefined,
      );
      if (known === undefined) return undefined;
      const id = randomBytes(16).toString('base64url');
      const claims = `${(now() + SESSION_MS).toString(36)}.${id}`;
      accepted.set(id, true);
      return { token: `${claims}.${signed(claims, known).toString('base64url')}`, client: known.client };
    },
    /**
     * Returns the client of the session with this token, as in `HttpState.client`; undefined when there is no such
     * session. Rejects with `database_unavailable` when it cannot be known whether the session has ended.
     */
    async clientOf(token: string): Promise<string | undefined> {
      const claims = verified(token);
      return claims === undefined || (await hasEnded(claims.id)) ? undefined : claims.client;
    },
    /**
     * Ends a session. A token that is none of a session is ignored. Rejects with `database_unavailable` when it has
     * ended in this process alone.
     */
    async end(token: string): Promise<void> {
      const claims = verified(token);
      if (claims === undefined) return;
      forgetExpired();
      ended.set(claims.id, claims.expiry);
      const key = keyOf(claims.id);
      const times = { leaseMs: ENDED_MS, lifeMs: ENDED_MS };
      await store?.claim({ key, digest: key, client: null, owner: randomUUID() }, times);
    },
  };
}

/** Returns the key by which an ended session is kept. */
function keyOf(id: string): Buffer {
  return sha256(`session ${id}`);
}

function knownKey(key: string, salt: Buffer): KnownKey {
  const digest = sha256(key);
  return {
    client: digest.toString('hex'),
    digest,
    signer: Buffer.from(hkdfSync('sha256', key, salt, 'capstan session', 32)),
  };
}

function signed(claims: string, { signer }: KnownKey): Buffer {
  return createHmac('sha256', signer).update(claims).digest();
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
