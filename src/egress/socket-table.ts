import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { UserLookup } from './user-lookup.ts';

/** All IPv4 connections of the network namespace; `uid` is the user who opened the socket (proc_net_tcp(5)). */
const TABLE = '/proc/net/tcp';

/** State of an established connection. The table shows user 0 for connections that are closed. */
const ESTABLISHED = '01';

/**
 * Minimum time between two reads of the table, in milliseconds. Each read walks all hash buckets of the kernel (1 to 2
 * ms). Browsers open connections in bursts, and a burst shares one read; the first connection after a pause does not
 * wait.
 */
const MIN_INTERVAL_MS = 40;

/** Creates a lookup that finds users in the system's table of sockets. */
export function createSocketTable(): UserLookup {
  const table = createTable();
  return {
    async userOf(connection) {
      const ends = `: ${hexAddress(connection.address, connection.port)} ${hexAddress(connection.remoteAddress, connection.remotePort)} `;
      // A read of a changing table may miss a line.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const text = await table().catch(() => '');
        const at = text.indexOf(ends);
        const [, , , state, , , , user] = at < 0 ? [] : text.slice(at, text.indexOf('\n', at)).split(/\s+/);
        if (user !== undefined) return state === ESTABLISHED ? Number(user) : null;
      }
      return null;
    },
    close() {},
  };
}

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

/** Formats 127.0.0.1:8080 as `0100007F:1F90`: the kernel prints the address in the machine's byte order. */
function hexAddress(address: string, port: number): string {
  const octets = address.split('.').map(Number);
  if (endianness() === 'LE') octets.reverse();
  return `${octets.map((octet) => hex(octet, 2)).join('')}:${hex(port, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
