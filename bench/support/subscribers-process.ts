import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import type { SubscribersAnswer, SubscribersOrder } from './subscribers.ts';

/*
 * The child's side of `subscribers.ts`. It stands for a thousand other machines on the cores of this one, and so does
 * as little as can be: all sockets read into one buffer, and bytes that equal those of the socket before are not read
 * again.
 */

try {
  // That they wait for a core of this machine is not the service's doing.
  setPriority(constants.priority.PRIORITY_HIGH);
} catch {
  // Where that is not allowed, the wait is part of the figure.
}

const shared = Buffer.alloc(256 * 1024);
/** Deliveries of stored captures, by how many milliseconds they took. */
const delays: number[] = [];
let deliveries = 0;
let reads = 0;
let sockets: Socket[] = [];
let seen = Buffer.alloc(0);
let storedAt: readonly number[] = [];

function storedIn(bytes: Buffer): readonly number[] {
  if (bytes.equals(seen)) return storedAt;
  seen = Buffer.from(bytes);
  storedAt = bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line.includes('"type":"capture.stored"'))
    .map((line) => Date.parse(/"at":"([^"]+)"/.exec(line)?.[1] ?? ''));
  return storedAt;
}

function subscribe(origin: string, reading: boolean): Promise<void> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const onBytes = (bytes: Buffer) => {
      resolve();
      reads += 1;
      for (const at of storedIn(bytes)) {
        const ms = Math.max(0, Math.round(Date.now() - at));
        delays[ms] = (delays[ms] ?? 0) + 1;
        deliveries += 1;
      }
    };
    const options = { host: hostname, port: Number(port) };
    const socket = connect(
      reading
        ? {
            ...options,
            onread: {
              buffer: shared,
              callback: (length) => {
                onBytes(shared.subarray(0, length));
                return true;
              },
            },
          }
        : options,
    );
    socket.on('error', reject);
    socket.write(`GET /events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    if (!reading) socket.once('readable', resolve);
    sockets.push(socket);
  });
}

async function obey(order: SubscribersOrder): Promise<SubscribersAnswer> {
  switch (order.type) {
    case 'open': {
      for (let n = 0; n < order.reading; n += 100) {
        const some = Math.min(100, order.reading - n);
        await Promise.all(Array.from({ length: some }, () => subscribe(order.origin, true)));
      }
      for (let n = 0; n < order.stalled; n += 1) await subscribe(order.origin, false);
      break;
    }
    case 'count':
      break;
    case 'close':
      for (const socket of sockets) socket.destroy();
      sockets = [];
      break;
  }
  const answer = { delays: Array.from(delays, (count) => count ?? 0), deliveries, reads };
  if (order.type === 'close') {
    delays.length = 0;
    deliveries = 0;
    reads = 0;
  }
  return answer;
}

process.on('message', async (order: SubscribersOrder) => {
  process.send?.(await obey(order));
});
process.on('disconnect', () => process.exit());
