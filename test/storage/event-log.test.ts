import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/storage/ports/database.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { bodies, entry, gist, isGrowing, type Listening, listening, readAll } from './event-logs.ts';

describe('the event log of one process', () => {
  let directory: string;
  const opened: { readonly database: Database; readonly log: Listening['log'] }[] = [];

  /** The log of one process; the suite's events are all in one database. */
  async function start(clock = Date.now): Promise<Listening> {
    const database = await openSqlite({ path: join(directory, 'results.db') });
    const started = await listening(database.eventLog({ clock, node: () => 3 }));
    opened.push({ database, log: started.log });
    return started;
  }

  async function closeAll(): Promise<void> {
    for (const { database, log } of opened.splice(0)) {
      await log.close();
      await database.close();
    }
  }

  beforeAll(async () => {
    directory = await makeDirectory();
  });

  afterEach(closeAll);

  it('publishes events in the order in which they were appended, with increasing ids', async () => {
    const { log, heard, hear } = await start();
    const sent = Array.from({ length: 50 }, (_, n) => `order ${n}`);
    for (const body of sent) log.append(entry(body));
    await hear('order 49');
    expect(bodies(heard)).toEqual(sent);
    expect(isGrowing(heard)).toBe(true);
  });

  it('reads the events after an id, oldest first, and none after the last one', async () => {
    const { log, floor, heard, hear } = await start();
    log.append({ type: 'capture.failed', host: 'example.org', batch: '7', api_key_name: 'shop', body: 'first' });
    log.append({ type: 'browser.launched', host: null, batch: null, body: 'second' });
    for (let n = 0; n < 20; n += 1) log.append(entry(`page ${n}`));
    await hear('page 19');
    expect(await readAll(log, floor)).toEqual(heard);
    expect(await log.read(heard[0]?.id ?? 0, 3)).toEqual(heard.slice(1, 4));
    expect(await log.read(heard.at(-1)?.id ?? 0, 10)).toEqual([]);
  });

  it('ends a page that is large, and leaves out none of the events that are not written yet', async () => {
    const { log, floor, heard } = await start();
    for (let n = 0; n < 30; n += 1) log.append(entry(`${n}${'x'.repeat(100_000)}`));
    const pages = [await readAll(log, floor, 200), await log.publishedStored().then(() => readAll(log, floor, 200))];
    for (const page of pages) expect(page.slice(-30)).toEqual(heard.slice(-30));
    expect(await log.read((heard[0]?.id ?? 0) - 1, 200)).toHaveLength(11);
  });

  it('continues with increasing ids after it was closed and reopened, even when the clock was set back', async () => {
    const before = await start();
    for (const body of ['one', 'two']) before.log.append(entry(body));
    await before.hear('two');
    await closeAll();
    const after = await start(() => Date.now() - 3_600_000);
    expect(after.floor).toBeGreaterThanOrEqual(before.heard.at(-1)?.id ?? Number.NaN);
    after.log.append(entry('three'));
    await after.hear('three');
    const all = await readAll(after.log, before.floor);
    expect(gist(all)).toEqual(['one', 'two', 'three']);
    // The first events are in the database by now, and no longer in memory.
    expect(gist(await readAll(after.log, before.heard[0]?.id ?? 0))).toEqual(['two', 'three']);
    expect(isGrowing(all)).toBe(true);
  });

  it('is in the data directory when records are in MongoDB, which may be away', async () => {
    const open = () => createStorage({ dataDir: join(directory, 'data'), mongoUrl: 'mongodb://127.0.0.1:1/away' });
    const first = await open();
    const before = await listening(first.events);
    before.log.append(entry('one'));
    await before.log.close();
    await first.close();
    const second = await open();
    const after = await listening(second.events);
    after.log.append(entry('two'));
    await after.hear('two');
    expect(gist(await readAll(after.log, before.floor))).toEqual(['one', 'two']);
    await after.log.close();
    await second.close();
  });
});
