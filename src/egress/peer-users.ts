import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { openSocketDiagnosis } from './socket-diagnosis.ts';
import { createSocketTable } from './socket-table.ts';
import type { UserLookup } from './user-lookup.ts';

/** Finds out whether connections come from processes of the users that may use the egress proxies. */
export interface PeerCheck {
  isAllowed(accepted: Socket): Promise<boolean>;
  /**
   * Resolves with whether the system reports the users of connections. Without that, every connection is allowed. Once
   * true, it stays true.
   */
  isReliable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PeerCheckOptions {
  /** User ids that may connect. */
  readonly users: readonly number[];
  /**
   * Called the first time that the system does not report the users of connections. Until it does, every connection is
   * accepted.
   */
  readonly onUnavailable: () => void;
  /** Ways to look users up; the first reliable one is used. @default the kernel's diagnosis, then its table */
  readonly lookups?: readonly (() => Promise<UserLookup | null>)[] | undefined;
  /** Time in milliseconds, from any start. @default performance.now */
  readonly clock?: (() => number) | undefined;
}

const LOOKUPS = [openSocketDiagnosis, async () => createSocketTable()];
/** Minimum time after a failed test of the lookups, in milliseconds: file descriptors may be short for a moment. */
const RETEST_MS = 60_000;
/** Time limit for the test of a lookup, in milliseconds. */
const TEST_MS = 10_000;

/** Creates a check of the users of loopback connections. */
export function createPeerCheck(options: PeerCheckOptions): PeerCheck {
  const { users, onUnavailable, lookups = LOOKUPS, clock = () => performance.now() } = options;
  const allowed = new Set(users);
  let opening: Promise<UserLookup | null> | undefined;
  let retestAt = Number.POSITIVE_INFINITY;
  let hasWarned = false;

  async function openFirst(): Promise<UserLookup | null> {
    const lookup = await firstReliable(lookups);
    if (lookup !== null) return lookup;
    retestAt = clock() + RETEST_MS;
    if (!hasWarned) onUnavailable();
    hasWarned = true;
    return null;
  }

  const open = (): Promise<UserLookup | null> => {
    if (opening === undefined || clock() >= retestAt) {
      retestAt = Number.POSITIVE_INFINITY;
      opening = openFirst();
    }
    return opening;
  };

  return {
    async isAllowed(accepted) {
      const lookup = await open();
      if (lookup === null) return true;
      const user = await peerUser(accepted, lookup).catch(() => null);
      return user !== null && allowed.has(user);
    },
    async isReliable() {
      return (await open()) !== null;
    },
    async close() {
      const lookup = await opening;
      lookup?.close();
    },
  };
}

async function firstReliable(lookups: NonNullable<PeerCheckOptions['lookups']>): Promise<UserLookup | null> {
  for (const open of lookups) {
    const lookup = await open().catch(() => null);
    if (lookup === null) continue;
    if (await isReliable(lookup).catch(() => false)) return lookup;
    lookup.close();
  }
  return null;
}

/**
 * Tests a lookup: resolves with whether it finds a connection of this process under this process's own user. Rejects
 * when no connection can be made.
 */
async function isReliable(lookup: UserLookup): Promise<boolean> {
  const server = createServer();
  const client = new Socket();
  const failed = new AbortController();
  const late = setTimeout(() => failed.abort(), TEST_MS);
  server.on('error', () => {});
  client.on('error', () => {});
  // Without a descriptor for either end, the server does not report a connection.
  client.on('close', () => failed.abort());
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const connected = once(server, 'connection', { signal: failed.signal });
    client.connect({ host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
    client.resume();
    const [accepted]: Socket[] = await connected;
    const user = accepted === undefined ? null : await peerUser(accepted, lookup);
    accepted?.destroy();
    return user !== null && user === process.getuid?.();
  } finally {
    clearTimeout(late);
    client.destroy();
    server.close();
  }
}

/** Resolves with the user of the other end of an accepted connection. */
async function peerUser(accepted: Socket, lookup: UserLookup): Promise<number | null> {
  const { remoteAddress, remotePort, localAddress, localPort } = accepted;
  if (remoteAddress === undefined || remotePort === undefined) return null;
  if (localAddress === undefined || localPort === undefined) return null;
  return lookup.userOf({
    address: remoteAddress,
    port: remotePort,
    remoteAddress: localAddress,
    remotePort: localPort,
  });
}
