import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { EventEntry } from '../../src/storage/ports/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { serviceForSuite } from '../support/for-suite.ts';
import { serve } from '../support/serve.ts';
import { NO_BROWSER, startService } from '../support/service.ts';
import { failureOf } from './answers.ts';
import { subscribe, type TestSubscriber } from './event-subscriber.ts';
import { describeWithTenants } from './tenants.ts';

const EVENT_BYTES = 10_000;
/** A page of events that the service reads from the log at once. */
const PAGE_BYTES = 200 * EVENT_BYTES;

describe('a key that floods the service with subscribers', () => {
  describeWithTenants((start) => {
    it('gets a share of the places, and a place again when it closes a subscription', async () => {
      await using tenants = await start(NO_BROWSER, { maxSubscribers: 8 });
      for (const app of tenants.apps) {
        const url = `${app.baseUrl}/events`;
        const join = (key: string) => subscribe(url, { 'X-API-Key': key });
        const own: TestSubscriber[] = [];
        for (let index = 0; index < 4; index += 1) own.push(await join('flood-key'));
        const refused = await fetch(url, { headers: { 'X-API-Key': 'flood-key' } });
        expect(refused.status).toBe(429);
        expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(1);
        expect(await failureOf(refused)).toMatchObject({ code: 'too_many_subscribers' });

        const other = await join('shop-key');
        await own[0]?.close();
        await expect
          .poll(async () => {
            const again = await join('flood-key').catch(() => undefined);
            if (again !== undefined) own.push(again);
            return again?.response.status;
          })
          .toBe(200);
        await Promise.all([...own, other].map((subscriber) => subscriber.close()));
      }
    });
  });
});

describe('subscribers that do not read', () => {
  const app = serviceForSuite(NO_BROWSER);

  it('cost the memory of what a socket takes at once, and not that of the events that they missed', async () => {
    const dbPath = `${app.directory}/events.db`;
    await writeEvents(dbPath, 1_000);
    const service = await startService({ ...NO_BROWSER, dbPath });
    const { hostname, port } = new URL(service.baseUrl);
    const before = bytesOfBuffers();
    const count = 30;
    const sockets = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port) }));
    await Promise.all(sockets.map(subscribeWithoutReading));
    // When this one has read all events, the others have been sent what they take.
    const reader = await subscribe(`${service.baseUrl}/events?lastEventId=0`);
    expect(await reader.take(1_000)).toHaveLength(1_000);
    await reader.close();
    // Each subscriber that held what was read for it would hold a page at least.
    await expect.poll(() => bytesOfBuffers() - before).toBeLessThan((count * PAGE_BYTES) / 4);
    for (const socket of sockets) socket.destroy();
    await service.stop();
  });

  it('answers 429 to further ones also without keys', async () => {
    const small = await serve(app.service, { maxSubscribers: 2 });
    const two = [await subscribe(`${small.baseUrl}/events`), await subscribe(`${small.baseUrl}/events`)];
    expect((await small.call('/events')).status).toBe(429);
    await Promise.all(two.map((subscriber) => subscriber.close()));
    await small.close();
  });
});

/** Resolves when the head of the answer has arrived: from then on, the client takes what the kernel takes. */
async function subscribeWithoutReading(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  socket.write('GET /events?lastEventId=0 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'readable');
}

/** Writes events into the log of a database. */
async function writeEvents(path: string, count: number): Promise<void> {
  const database = await openSqlite({ path });
  const log = database.eventLog({ clock: Date.now, node: () => 1 });
  await log.start(() => {});
  const event: EventEntry = {
    type: 'capture.failed',
    host: null,
    batch: null,
    body: JSON.stringify('x'.repeat(EVENT_BYTES)),
  };
  for (let index = 0; index < count; index += 1) {
    log.append(event);
    // Only so many events may wait.
    if (index % 500 === 499) await expect.poll(() => log.unwritten).toBe(0);
  }
  await log.close();
  await database.close();
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Returns the bytes of the buffers that something still refers to. */
function bytesOfBuffers(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}
