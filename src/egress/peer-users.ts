import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a connection comes from a process of one of the users that may use the egress proxies. */
export type PeerCheck = (accepted: Socket) => Promise<boolean>;

export interface PeerCheckOptions {
  /** Numbers of the users. */
  readonly users: readonly number[];
  /** Called once where the system does not tell whose connections are: then every one is accepted. */
  readonly onUnavailable: () => void;
}

/** All IPv4 connections of the machine's network namespace; `uid` is the user who made the socket (proc_net_tcp(5)). */
const TABLE = '/proc/net/tcp';

/** Looks connections to loopback ports up in the system's table of sockets. */
export function createPeerCheck({ users, onUnavailable }: PeerCheckOptions): PeerCheck {
  const allowed = new Set(users);
  const table = createTable();
  let probed: Promise<boolean> | undefined;

  return async (accepted) => {
    probed ??= isTableComplete(table).then((complete) => {
      if (!complete) onUnavailable();
      return complete;
    });
    if (!(await probed)) return true;
    const user = await peerUser(accepted, table);
    return user !== null && allowed.has(user);
  };
}

/**
 * Milliseconds between two reads of the table. The kernel walks all its hash buckets for each (1 to 2 ms): a browser
 * opens connections in bursts, and those of one burst share a read. The first connection after a pause does not wait.
 */
const MIN_INTERVAL_MS = 40;

/**
 * Resolves with a text of the table that was read after the call. Read synchronously: the kernel gives 4 KiB at a time,
 * and a turn of the thread pool for each costs more than the reading.
 */
function createTable(): () => Promise<string> {
  let readAt = Number.NEGATIVE_INFINITY;
  let next: Promise<string> | null = null;
  const readNext = async (): Promise<string> => {
    await delay(Math.max(0, readAt + MIN_INTERVAL_MS - performance.now()));
    next = null;
    const text = readFileSync(TABLE, 'latin1');
    readAt = performance.now();
    return text;
  };
  return () => {
    next ??= readNext();
    return next;
  };
}

/** The user at the other end; null when the connection is not in the table: the other end has closed it. */
async function peerUser(accepted: Socket, table: () => Promise<string>): Promise<number | null> {
  const { remoteAddress, remotePort, localAddress, localPort } = accepted;
  if (remoteAddress === undefined || localAddress === undefined) return null;
  const peer = `: ${hexAddress(remoteAddress, remotePort)} ${hexAddress(localAddress, localPort)} `;
  // A table that changes while it is read may lack a line.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const text = await table().catch(() => '');
    const at = text.indexOf(peer);
    const fields = at < 0 ? [] : text.slice(at, text.indexOf('\n', at)).trim().split(/\s+/);
    const user = fields[7];
    if (user !== undefined) return Number(user);
  }
  return null;
}

/** `0100007F:1F90` for 127.0.0.1:8080: the kernel prints the address as a number of the machine's byte order. */
function hexAddress(address: string, port: number | undefined): string {
  const octets = address.split('.').map(Number);
  if (LITTLE_ENDIAN) octets.reverse();
  return `${octets.map((octet) => hex(octet, 2)).join('')}:${hex(port ?? 0, 4)}`;
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}

/** Whether a connection of our own is found under our own user, which shows that the table can be relied on. */
async function isTableComplete(table: () => Promise<string>): Promise<boolean> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const client = connect({ host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
  client.on('error', () => {});
  const [accepted]: Socket[] = await once(server, 'connection');
  const user = accepted === undefined ? null : await peerUser(accepted, table);
  accepted?.destroy();
  client.destroy();
  server.close();
  return user !== null && user === process.getuid?.();
}
