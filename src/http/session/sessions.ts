import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** Twelve hours: a working day. */
export const SESSION_MS = 12 * 60 * 60 * 1000;

/** Sessions of the web interface, which a browser keeps in place of an API key. */
export interface Sessions {
  /** Whether clients need a key. */
  readonly required: boolean;
  /** Begins a session; undefined when the key is none of the configured ones. */
  begin(key: string): Session | undefined;
  /**
   * Returns the client of the session with this token, as in `HttpState.client`; undefined when there is no such
   * session.
   */
  clientOf(token: string): string | undefined;
  /** Replaces the keys: sessions of a key that is gone end. */
  setKeys(apiKeys: readonly string[]): void;
  /** Ends a session, in this process. A token that is none of a session is ignored. */
  end(token: string): void;
}

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

/**
 * A token is signed instead of stored: `<expiry>.<random>.<HMAC-SHA256>`, with a secret that is derived from the API
 * key. So sessions survive a restart, and every process with the same keys accepts them.
 */
export function createSessions(apiKeys: readonly string[], now: () => number = Date.now): Sessions {
  let keys = apiKeys.map(knownKey);
  /** When the ended sessions would have expired, by their random part: until then they are remembered. */
  const ended = new Map<string, number>();
  const forgetExpired = (): void => {
    for (const [random, expiry] of ended) {
      if (expiry > now()) return;
      ended.delete(random);
    }
  };
  const sessions: Sessions = {
    get required() {
      return keys.length > 0;
    },
    setKeys: (next) => {
      keys = next.map(knownKey);
    },
    begin(key) {
      const digest = sha256(key);
      const known = keys.reduce<KnownKey | undefined>(
        (found, each) => (timingSafeEqual(each.digest, digest) ? each : found),
        undefined,
      );
      if (known === undefined) return undefined;
      const claims = `${(now() + SESSION_MS).toString(36)}.${randomBytes(16).toString('base64url')}`;
      return { token: `${claims}.${signed(claims, known).toString('base64url')}`, client: known.client };
    },
    clientOf(token) {
      const [expiry = '', random = '', signature = '', ...more] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const known = keys.find((each) => {
        const right = signed(`${expiry}.${random}`, each);
        return given.length === right.length && timingSafeEqual(given, right);
      });
      const isOver = more.length > 0 || Number.parseInt(expiry, 36) <= now() || ended.has(random);
      return isOver ? undefined : known?.client;
    },
    end: (token) => {
      if (sessions.clientOf(token) === undefined) return;
      forgetExpired();
      const [expiry = '', random = ''] = token.split('.');
      ended.set(random, Number.parseInt(expiry, 36));
    },
  };
  return sessions;
}

function knownKey(key: string): KnownKey {
  const digest = sha256(key);
  return {
    client: digest.toString('hex'),
    digest,
    signer: Buffer.from(hkdfSync('sha256', key, '', 'capstan session', 32)),
  };
}

function signed(claims: string, { signer }: KnownKey): Buffer {
  return createHmac('sha256', signer).update(claims).digest();
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
