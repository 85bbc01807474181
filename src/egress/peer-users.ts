import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether a connection comes from a process of one of the users that may use the egress proxies. */
export type PeerCheck = (accepted: Socket) => Promise<boolean>;

export interface PeerCheckOptions {
  /** User ids that may connect. */
  readonly users: readonly number[];
  /** Called once where the system does not report the users of connections. Every connection is accepted then. */
  readonly onUnavailable: () => void;
}

/** All IPv4 connections of the machine's network namespace; `uid` is the user who made the socket (proc_net_tcp(5)). */
const TABLE = '/proc/net/tcp';

/** Creates a check that finds the user of a loopback connection in the system's table of sockets. */
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
 * Minimum time between two reads of the table, in milliseconds. Each read walks all hash buckets of the kernel (1 to 2
 * ms). Browsers open connections in bursts, and a burst shares one read; the first connection after a pause does not
 * wait.
 */
const MIN_INTERVAL_MS = 40;

/**
 * Returns a function that resolves with a table read after its call. Reads synchronously: the kernel returns 4 KiB at a
 * time, and a thread pool round trip for each costs more than the read.
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

/** Returns the user id of the other end; null when the other end has closed the connection. */
async function peerUser(accepted: Socket, table: () => Promise<string>): Promise<number | null> {
  const { remoteAddress, remotePort, localAddress, localPort } = accepted;
  if (remoteAddress === undefined || localAddress === undefined) return null;
  const peer = `: ${hexAddress(remoteAddress, remotePort)} ${hexAddress(localAddress, localPort)} `;
  // A read of a changing table may miss a line.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const text = await table().catch(() => '');
    const at = text.indexOf(peer);
    const fields = at < 0 ? [] : text.slice(at, text.indexOf('\n', at)).trim().split(/\s+/);
    const user = fields[7];
    if (user !== undefined) return Number(user);
  }
  return null;
}

/** Formats 127.0.0.1:8080 as `0100007F:1F90`: the kernel prints the address in the machine's byte order. */
function hexAddress(address: string, port: number | undefined): string {
  const octets = address.split('.').map(Number);
  if (LITTLE_ENDIAN) octets.reverse();
  return `${octets.map((octet) => hex(octet, 2)).join('')}:${hex(port ?? 0, 4)}`;
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}

/** Whether the table shows a connection of this process under its own user. Otherwise it is not reliable. */
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
