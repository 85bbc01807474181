import { join } from 'node:path';
import { EMPTY } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { openEventFeed } from '../../src/feed/event-feed.ts';
import { findEvents } from '../../src/feed/matching-events.ts';
import type { EventLog } from '../../src/storage/ports/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { entry, listening } from '../storage/event-logs.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/** Opens a feed whose 500 past events are in its log alone. `around` is called with each read of the log. */
async function feedOfPastEvents(around: (read: () => ReturnType<EventLog['read']>) => ReturnType<EventLog['read']>) {
  const database = await openSqlite({ path: join(await makeDirectory(), 'events.db') });
  const options = { clock: Date.now, node: () => 1 };
  const earlier = await listening(database.eventLog(options));
  for (let at = 0; at < 500; at += 1) earlier.log.append(entry(String(at)));
  await earlier.log.allStored();
  await earlier.log.close();
  const log = database.eventLog(options);
  const read = log.read.bind(log);
  log.read = (after, limit) => around(() => read(after, limit));
  const feed = openEventFeed(EMPTY, log);
  await feed.started;
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  return { feed, past: earlier.heard };
}

const NEVER = new Promise<never>(() => {});
const search = { after: 0, limit: 10, until: AbortSignal.abort(), owner: null };

it('returns what it has found when the time is over while it waits for the log', async () => {
  const time = new AbortController();
  let reads = 0;
  const { feed, past } = await feedOfPastEvents((read) => {
    reads += 1;
    if (reads < 3) return read();
    setImmediate(() => time.abort());
    return NEVER;
  });
  const lets = ({ body }: { readonly body: string }) => body === '7' || body === '499';
  const found = await findEvents(feed, { ...search, lets }, time.signal);
  expect(found).toMatchObject({ events: [{ body: '7' }], isAll: false });
  // A search that goes on from here makes progress.
  expect(past.findIndex(({ id }) => id === found.upTo)).toBe(399);
});

it('returns what it has found when the time is over while others have a turn', async () => {
  const time = new AbortController();
  let reads = 0;
  const { feed } = await feedOfPastEvents((read) => {
    reads += 1;
    return reads < 3 ? read() : NEVER;
  });
  const lets = ({ body }: { readonly body: string }) => {
    if (body === '399') setImmediate(() => time.abort());
    return body === '7';
  };
  const found = await findEvents(feed, { ...search, lets }, time.signal);
  expect(found).toMatchObject({ events: [{ body: '7' }], isAll: false });
  expect(reads).toBe(2);
});

it('fails when the time is over before it has looked at any event', async () => {
  const time = new AbortController();
  const { feed } = await feedOfPastEvents(() => {
    setImmediate(() => time.abort());
    return NEVER;
  });
  const finding = findEvents(feed, { ...search, lets: () => true }, time.signal);
  await expect(finding).rejects.toMatchObject({ code: 'cluster_unavailable' });
});
