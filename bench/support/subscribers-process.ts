import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import type { SubscribersAnswer, SubscribersOrder } from './subscribers.ts';

/*
 * The child's side of `subscribers.ts`. This process simulates 1,000 other machines on the cores of this machine, so it
 * does as little as possible: all sockets read into one buffer, and bytes equal to those of the previous socket are not
 * parsed again.
 */

try {
  // Waiting for a core of this machine must not count as the service's latency.
  setPriority(constants.priority.PRIORITY_HIGH);
} catch {
  // If the priority cannot be raised, the figure includes that wait.
}

/** Often enough that nothing waits in the service: a socket buffer holds about forty writes. */
const VISIT_MS = 2000;

const shared = Buffer.alloc(256 * 1024);
/** Deliveries of stored captures to the watched subscribers, by latency in milliseconds. */
const delays: number[] = [];
let deliveries = 0;
let reads = 0;
let sockets: Socket[] = [];
/** Subscribers that are read only every two seconds. */
let visited: Socket[] = [];
let seen = Buffer.alloc(0);
let storedAt: readonly number[] = [];

setInterval(visit, VISIT_MS);

function visit(): void {
  for (const socket of visited) socket.resume();
}

/** Times at which the captures in complete events were stored, in milliseconds since the Unix epoch. */
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

type Manner = 'at once' | 'now and then' | 'never';

function subscribe(origin: string, manner: Manner): Promise<void> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    const take = (bytes: Buffer) => {
      resolve();
      if (manner === 'at once') reads += 1;
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const whole = all.lastIndexOf('\n\n') + 2;
      rest = whole === all.length ? Buffer.alloc(0) : Buffer.from(all.subarray(whole));
      for (const at of storedIn(all.subarray(0, whole))) {
        deliveries += 1;
        if (manner !== 'at once') continue;
        const ms = Math.max(0, Math.round(Date.now() - at));
        delays[ms] = (delays[ms] ?? 0) + 1;
      }
    };
    const options = { host: hostname, port: Number(port) };
    const socket = connect(
      manner === 'never'
        ? options
        : {
            ...options,
            onread: {
              buffer: shared,
              callback: (length) => {
                take(shared.subarray(0, length));
                return manner === 'at once';
              },
            },
          },
    );
    socket.on('error', reject);
    socket.write(`GET /events HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    if (manner === 'never') socket.once('readable', resolve);
    if (manner === 'now and then') visited.push(socket);
    sockets.push(socket);
  });
}

async function obey(order: SubscribersOrder): Promise<SubscribersAnswer> {
  switch (order.type) {
    case 'open': {
      const manner = (n: number) => (n % order.oneInReads === 0 ? 'at once' : 'now and then');
      for (let n = 0; n < order.reading; n += 100) {
        const some = Math.min(100, order.reading - n);
        await Promise.all(Array.from({ length: some }, (_, index) => subscribe(order.origin, manner(n + index))));
      }
      for (let n = 0; n < order.stalled; n += 1) await subscribe(order.origin, 'never');
      break;
    }
    case 'count':
      visit();
      break;
    case 'close':
      for (const socket of sockets) socket.destroy();
      sockets = [];
      visited = [];
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
