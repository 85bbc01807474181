import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { openSocketDiagnosis } from './socket-diagnosis.ts';
import { createSocketTable } from './socket-table.ts';

/** Finds out whether connections come from processes of the users that may use the egress proxies. */
export interface PeerCheck {
  isAllowed(accepted: Socket): Promise<boolean>;
  /** Resolves with whether the system reports the users of connections. Without that, every connection is allowed. */
  isReliable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PeerCheckOptions {
  /** User ids that may connect. */
  readonly users: readonly number[];
  /** Called once when the system does not report the users of connections. Every connection is then accepted. */
  readonly onUnavailable: () => void;
  /** Ways to look users up; the first reliable one is used. @default the kernel's diagnosis, then its table */
  readonly lookups?: readonly (() => Promise<UserLookup | null>)[] | undefined;
}

/** One end of a TCP connection over IPv4. */
export interface Connection {
  readonly address: string;
  readonly port: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A way to find the user of a connection. */
export interface UserLookup {
  /**
   * Resolves with the id of the user who opened this end of an established connection; null when the user is unknown,
   * for example because this end is already closed.
   */
  userOf(connection: Connection): Promise<number | null>;
  close(): void;
}

const LOOKUPS = [openSocketDiagnosis, async () => createSocketTable()];

/** Creates a check of the users of loopback connections. */
export function createPeerCheck({ users, onUnavailable, lookups = LOOKUPS }: PeerCheckOptions): PeerCheck {
  const allowed = new Set(users);
  let opening: Promise<UserLookup | null> | undefined;

  const open = (): Promise<UserLookup | null> => {
    opening ??= firstReliable(lookups).then((lookup) => {
      if (lookup === null) onUnavailable();
      return lookup;
    });
    return opening;
  };

  return {
    async isAllowed(accepted) {
      const lookup = await open();
      if (lookup === null) return true;
      const user = await peerUser(accepted, lookup);
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
    const lookup = await open();
    if (lookup === null) continue;
    if (await isReliable(lookup)) return lookup;
    lookup.close();
  }
  return null;
}

/** Tests a lookup: returns whether it finds a connection of this process under this process's own user. */
async function isReliable(lookup: UserLookup): Promise<boolean> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const client = connect({ host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
  client.on('error', () => {});
  const [accepted]: Socket[] = await once(server, 'connection');
  const user = accepted === undefined ? null : await peerUser(accepted, lookup);
  accepted?.destroy();
  client.destroy();
  server.close();
  return user !== null && user === process.getuid?.();
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
