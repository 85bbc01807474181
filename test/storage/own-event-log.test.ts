import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isVisible } from '../../src/feed/event-filter.ts';
import { type EventTable, OwnEventLog, type OwnEventLogOptions } from '../../src/storage/records/own-event-log.ts';
import { openSqlite, type SqliteDatabase, type SqliteOptions } from '../../src/storage/sqlite/open.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { bodies, entry, gist, isGrowing, type Listening, listening, readAll } from './event-logs.ts';

let directory: string;
let path: string;
const stores: SqliteDatabase[] = [];

beforeEach(async () => {
  directory = await makeDirectory();
  path = join(directory, 'results.db');
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

async function open(
  log: Partial<OwnEventLogOptions> = {},
  store: Partial<SqliteOptions> = {},
): Promise<Listening & { readonly store: SqliteDatabase }> {
  const opened = await openSqlite({ path, ...store });
  stores.push(opened);
  const options = { table: opened.events, clock: Date.now, node: () => 3, ...log };
  return { ...(await listening(new OwnEventLog(options))), store: opened };
}

const aMinuteAhead = () => Date.now() + 60_000;

function numbered(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, n) => String(from + n));
}

/** Waits until everything is written, which only the table shows. */
async function written(store: SqliteDatabase, count: number): Promise<void> {
  await expect.poll(async () => (await store.events.read(0, 100_000)).length).toBe(count);
}

describe('the log of one process, in SQLite', () => {
  it('publishes at once, and replays everything in order', async () => {
    const { log, heard } = await open();
    for (const body of numbered(20)) log.append(entry(body));
    expect(bodies(heard)).toEqual(numbered(20));
    expect(isGrowing(heard)).toBe(true);
    expect(await readAll(log, 0)).toEqual(heard);
    expect(await readAll(log, heard[11]?.id ?? 0)).toEqual(heard.slice(12));
    await log.close();
  });

  it('resolves once the events so far are stored, although others keep coming', async () => {
    const store = await openSqlite({ path });
    stores.push(store);
    const { events } = store;
    let writes = 0;
    const table: EventTable = {
      append: (rows) => {
        writes += 1;
        if (writes < 50) log.append(entry(`during write ${writes}`));
        return events.append(rows);
      },
      read: (after, limit) => events.read(after, limit),
      newest: () => events.newest(),
      newestKeys: (rows) => events.newestKeys(rows),
    };
    const { log } = await listening(new OwnEventLog({ table, clock: Date.now, node: () => 3 }));
    log.append(entry('first'));
    await log.allStored();
    expect(writes).toBeLessThan(50);
    expect(bodies(await events.read(0, 1))).toEqual(['first']);
    await log.close();
  });

  it('stores an event once that a killed process has logged, and that is reported again', async () => {
    const killed = await open();
    const run = { ...entry('run'), key: 'watch-changed-1-2' };
    killed.log.append(run);
    await written(killed.store, 1);
    await killed.store.close();
    const { log, heard } = await open();
    log.append(run);
    log.append({ ...entry('next'), key: 'watch-changed-1-3' });
    expect(bodies(heard)).toEqual(['next']);
    expect((await readAll(log, 0)).flatMap(({ key }) => key ?? [])).toEqual(['watch-changed-1-2', 'watch-changed-1-3']);
    await log.close();
  });

  it('belongs to one process at a time: when it ends, the next one takes over without noting a false gap', async () => {
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    const [first, second] = await Promise.all([openSqlite({ path, onWarning }), openSqlite({ path, onWarning })]);
    stores.push(first, second);
    const one = await listening(first.eventLog({ clock: Date.now, node: () => 3 }));
    // Its clock is ahead, so that its events are newer than the last row of the first process.
    const two = await listening(second.eventLog({ clock: aMinuteAhead, node: () => 4 }));
    for (const body of ['0', '1']) one.log.append(entry(body));
    two.log.append(entry('x'));
    await written(first, 2);
    expect(bodies(two.heard)).toEqual(['x']);
    await expect(two.log.read(0, 10)).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(gist(await readAll(one.log, 0))).toEqual(['0', '1']);
    expect(warnings).toEqual([
      `another process writes the event log of ${path}: until it ends, this process stores no events, and GET /events replays none`,
    ]);
    await one.log.close();
    await first.close();
    two.log.append(entry('y'));
    await two.log.close();
    const rows = await second.events.read(0, 10);
    expect(gist(rows)).toEqual(['0', '1', 'x', 'y']);
    expect(rows).toEqual([...one.heard, ...two.heard]);
    expect(isGrowing(rows)).toBe(true);
  });

  it('notes no gap below the newest event when it takes over from a process that ended abruptly, with its clock ahead', async () => {
    const [first, second] = await Promise.all([openSqlite({ path }), openSqlite({ path })]);
    stores.push(first, second);
    const one = await listening(first.eventLog({ clock: aMinuteAhead, node: () => 3 }));
    const two = await listening(second.eventLog({ clock: Date.now, node: () => 4 }));
    one.log.append(entry('0'));
    two.log.append(entry('x'));
    await written(first, 1);
    await first.close();
    await written(second, 2);
    two.log.append(entry('y'));
    await two.log.close();
    expect(await second.events.read(0, 10)).toEqual([two.heard[0], one.heard[0], two.heard[1]]);
  });

  it('reports that events may be missing after an abrupt end', async () => {
    const before = await open();
    for (const body of numbered(3)) before.log.append(entry(body));
    await written(before.store, 3);
    await before.store.close();
    const after = await open();
    after.log.append(entry('new'));
    expect(gist(await readAll(after.log, 0))).toEqual(['0', '1', '2', 'gap: ended_abruptly', 'new']);
    await after.log.close();
  });

  it('keeps the configured number of events, and has a gap in place of older ones', async () => {
    const { log, store } = await open({}, { keptEvents: 100 });
    for (const body of numbered(300)) log.append(entry(body));
    await expect.poll(async () => (await store.events.read(0, 1000)).at(-1)?.body).toBe('299');
    for (const body of numbered(300, 300)) log.append(entry(body));
    await expect.poll(async () => (await store.events.read(0, 1000)).at(-1)?.body).toBe('599');
    const [first, ...rest] = gist(await readAll(log, 0));
    expect(first).toBe('gap: too_old');
    expect(rest.length).toBeGreaterThanOrEqual(99);
    expect(rest.length).toBeLessThan(700);
    expect(rest).toEqual(numbered(rest.length, 600 - rest.length));
    await log.close();
  });

  it('takes room from the API key with the most events alone: others keep theirs, and only it has a gap', async () => {
    const { log, store } = await open({}, { keptEvents: 100 });
    const of = (key: string, body: string) => ({ ...entry(body), api_key_name: key });
    for (const body of numbered(20)) log.append(of('quiet', body));
    for (const body of numbered(1000)) log.append(of('flood', body));
    await expect.poll(async () => (await store.events.read(0, 2000)).at(-1)?.body).toBe('999');
    const all = await readAll(log, 0);
    const seenBy = (ofKey: string) => gist(all.filter((event) => isVisible(event, ofKey)));
    expect(seenBy('quiet')).toEqual(numbered(20));
    const [first, ...rest] = seenBy('flood');
    expect(first).toBe('gap: too_old');
    expect(rest.length).toBeGreaterThanOrEqual(79);
    expect(rest).toEqual(numbered(rest.length, 1000 - rest.length));
    await log.close();
  });

  it('continues while the database is away, and writes the events when it is back', async () => {
    await mkdir(path);
    const { log, heard, floor } = await open();
    for (const body of numbered(5)) log.append(entry(body));
    expect(bodies(heard)).toEqual(numbered(5));
    await expect(log.read(0, 10)).rejects.toMatchObject({ code: 'database_unavailable' });
    await rm(path, { recursive: true });
    await expect.poll(() => readAll(log, floor).then(bodies, () => [])).toEqual(numbered(5));
    await log.close();
  });

  it('shows a gap in place of events that did not fit in memory while the database was away', async () => {
    await mkdir(path);
    const { log, heard, store } = await open({ waiting: { events: 4, characters: 1000 } });
    for (const body of numbered(10)) log.append(entry(body));
    await rm(path, { recursive: true });
    await expect
      .poll(() => store.events.read(0, 10).then(gist, () => []))
      .toEqual(['gap: not_written', ...numbered(3, 7)]);
    expect(gist(await readAll(log, heard[5]?.id ?? 0))).toEqual(['gap: not_written', ...numbered(3, 7)]);
    // A subscriber that has seen the last missing event misses nothing.
    expect(gist(await readAll(log, heard[6]?.id ?? 0))).toEqual(numbered(3, 7));
    await log.close();
  });

  it('drops events of the API key with the most while the database is away, and keeps those of others in their places', async () => {
    await mkdir(path);
    const { log, store } = await open({ waiting: { events: 8, characters: 10_000 } });
    const of = (key: string, body: string) => ({ ...entry(body), api_key_name: key });
    for (const body of numbered(10)) log.append(of('flood', body));
    for (const body of ['a', 'b']) log.append(of('quiet', body));
    for (const body of numbered(10, 10)) log.append(of('flood', body));
    const merged = ['a', 'b', 'gap: not_written', ...numbered(5, 15)];
    await rm(path, { recursive: true });
    await expect.poll(() => store.events.read(0, 20).then(gist, () => [])).toEqual(merged);
    const all = await readAll(log, 0);
    expect(isGrowing(all)).toBe(true);
    expect(gist(all.filter((event) => isVisible(event, 'quiet')))).toEqual(['a', 'b']);
    await log.close();
  });
});

describe('the log of one process, without a database', () => {
  it('publishes events, and reports that none are stored', async () => {
    const { log, heard, floor } = await listening(new OwnEventLog({ table: null, clock: Date.now, node: () => 40 }));
    log.append(entry('a'));
    expect(bodies(heard)).toEqual(['a']);
    expect(heard[0]?.id).toBeGreaterThan(floor);
    await expect(log.read(0, 10)).rejects.toMatchObject({ code: 'database_not_enabled' });
    await log.close();
  });
});
