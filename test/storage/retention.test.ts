import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { createRetention, type Retention, type RetentionOptions } from '../../src/storage/captures/retention.ts';
import { holdLock } from '../../src/storage/files/held-lock.ts';
import { lastUseIn } from '../../src/storage/files/last-use-file.ts';
import { retentionLock } from '../../src/storage/files/layout.ts';
import { firstIdAt } from '../../src/storage/ids.ts';
import { databaseFile, keepPicture, openParts, type Parts, temporaryDirectory } from './parts.ts';
import { captureOf, resultOf } from './result-of.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 5, 15, 12);

/** Returns the id of a capture of this age. */
function idOfAge(ms: number): number {
  return firstIdAt(new Date(NOW - ms)) + 7;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

describe('retention', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let parts: Parts;
  let started: Retention[];
  const problems = vi.fn<(problem: unknown) => void>();

  beforeEach(async () => {
    directory = await temporaryDirectory();
    parts = await openParts(directory.path);
    started = [];
    problems.mockReset();
  });

  afterEach(async () => {
    for (const one of started) await one.stop();
    await parts.close();
    await directory.remove();
  });

  function retention(limits: Partial<RetentionOptions['limits']>, options: Partial<RetentionOptions> = {}): Retention {
    const made = createRetention({
      limits: { days: null, bytes: null, ...limits },
      artifacts: parts.artifacts,
      results: parts.results,
      remove: (ids) => parts.captureStore.remove(ids),
      lock: async () => holdLock(retentionLock(parts.data.path)),
      clock: () => NOW,
      onProblem: problems,
      ...options,
    });
    started.push(made);
    return made;
  }

  const kept = async () => ({
    files: (await parts.artifacts.list(1000)).map(({ id }) => id),
    records: (await parts.results.page({ by: 'all' }, 1000)).map(({ id }) => id),
  });

  const keepAll = (ids: readonly number[]) => Promise.all(ids.map((id) => keepPicture(parts.captureStore, id)));

  it('removes files and records of captures that are too old, and keeps the others', async () => {
    const [old, older, young] = [idOfAge(2 * DAY + 1), idOfAge(90 * DAY), idOfAge(2 * DAY - 1000)];
    await keepAll([young, old, older]);
    const onRemoved = vi.fn();
    const { counts, ...days } = retention({ days: 2 }, { onRemoved });
    expect(counts).toEqual({ screenshots: 0, records: 0, bytes_freed: 0 });
    const bytes = (await parts.artifacts.sizeOf(old)) + (await parts.artifacts.sizeOf(older));
    await days.pass();
    expect(await kept()).toEqual({ files: [young], records: [young] });
    expect(onRemoved.mock.calls).toEqual([[{ screenshots: 2, records: 2, bytes_freed: bytes }]]);
    await days.pass();
    expect(onRemoved).toHaveBeenCalledTimes(1);
    expect(problems).not.toHaveBeenCalled();
  });

  it('removes nothing by age from the time the clock is set forward until it is set back', async () => {
    let now = NOW;
    const ids = [idOfAge(DAY), idOfAge(HOUR)];
    await keepAll(ids);
    const days = retention({ days: 30 }, { clock: () => now });
    now += 40 * DAY;
    await days.pass();
    await days.pass();
    expect((await kept()).files).toHaveLength(2);
    expect(problems.mock.calls).toEqual([
      [expect.objectContaining({ message: expect.stringContaining('the clock was set forward by 40 days') })],
    ]);
    now -= 40 * DAY;
    await days.pass();
    expect((await kept()).files).toHaveLength(2);
  });

  it.each([2, 7, 40])(
    'removes nothing by age after restarts with a clock that was set forward by %d days, until it is accepted or set back',
    async (jump) => {
      let now = NOW;
      await keepAll([idOfAge(DAY), idOfAge(HOUR)]);
      const options = { clock: () => now, lastUse: lastUseIn(parts.data.path) };
      const first = retention({ days: 1.5 }, options);
      await first.pass();
      now += jump * DAY;
      await first.pass();
      for (let start = 0; start < 2; start += 1) {
        const again = retention({ days: 1.5 }, options);
        await again.pass();
        await again.pass();
      }
      expect((await kept()).files).toHaveLength(2);
      expect(problems).toHaveBeenCalledTimes(3);
      now -= jump * DAY;
      await retention({ days: 1.5 }, options).pass();
      expect(problems).toHaveBeenCalledTimes(3);
      expect((await kept()).files).toHaveLength(2);
      now += jump * DAY;
      await retention({ days: 1.5 }, { ...options, acceptedDay: dayOf(now) }).pass();
      expect((await kept()).files).toEqual([]);
    },
  );

  it.each([
    ['in the data directory', 'there'],
    ['in a database', 'elsewhere'],
    ['in a database, where another process held it until then', 'others'],
  ] as const)(
    'removes no capture by age when the clock is far ahead of the last use, until it is accepted, with the lock %s',
    async (_, place) => {
      const ids = [idOfAge(DAY), idOfAge(HOUR)];
      await keepAll(ids);
      const lastUse = lastUseIn(parts.data.path);
      let isOthers = place === 'others';
      const held = { isHeld: true, release: () => {} };
      const lock = place === 'there' ? {} : { lock: async () => (isOthers ? undefined : held) };
      await retention({ days: 30 }, { lastUse, ...lock }).pass();
      let runFor = 0;
      const running = { ...lock, clock: () => NOW + runFor, elapsed: () => runFor };
      const long = retention({ days: 30 }, { lastUse, ...running });
      for (; runFor <= 9 * DAY; runFor += 3 * DAY) await long.pass();
      expect(problems).not.toHaveBeenCalled();
      isOthers = false;
      const clock = () => NOW + 49 * DAY;
      const day = dayOf(clock());
      const ahead = retention({ days: 30 }, { lastUse, clock, ...lock });
      await ahead.pass();
      await ahead.pass();
      await retention({ days: 30 }, { lastUse, clock, ...lock, acceptedDay: dayOf(clock() - 2 * DAY) }).pass();
      expect((await kept()).files).toHaveLength(2);
      const line = `the clock is ahead of the last use of the store by 40 days: --retain-days removes nothing until it is set back; if it is right, start the service with --accept-clock ${day}`;
      const once = [expect.objectContaining({ message: line })];
      expect(problems.mock.calls).toEqual([once, once]);
      await retention({ days: 30 }, { lastUse, clock, ...lock, acceptedDay: day }).pass();
      expect((await kept()).files).toEqual([]);
      // The clock that was accepted needs it no longer.
      await keepAll(ids);
      await retention({ days: 30 }, { lastUse, clock, ...lock }).pass();
      expect((await kept()).files).toEqual([]);
    },
  );

  it('trusts a clock at later starts once one process has accepted it, while another process still doubts it', async () => {
    const lastUse = lastUseIn(parts.data.path);
    await lastUse.note(NOW - 20 * DAY);
    let passed = 0;
    const options = { lastUse, clock: () => NOW + passed, elapsed: () => passed };
    const doubting = retention({ days: 30 }, options);
    const accepting = retention({ days: 30 }, { ...options, acceptedDay: dayOf(NOW) });
    for (; passed < 6 * MINUTE; passed += MINUTE) {
      await doubting.pass();
      await accepting.pass();
    }
    for (const end = passed + 3 * MINUTE; passed < end; passed += MINUTE) await doubting.pass();
    expect(problems).toHaveBeenCalledTimes(1);
    await keepAll([idOfAge(40 * DAY), idOfAge(HOUR)]);
    await retention({ days: 30 }, options).pass();
    expect((await kept()).files).toHaveLength(1);
    expect(problems).toHaveBeenCalledTimes(1);
  });

  it('does not accept a clock years before the accepted day', async () => {
    await keepAll([idOfAge(DAY)]);
    const lastUse = lastUseIn(parts.data.path);
    await retention({ days: 30 }, { lastUse }).pass();
    const clock = () => NOW + 60 * DAY;
    await retention({ days: 30 }, { lastUse, clock, acceptedDay: dayOf(NOW + 2000 * DAY) }).pass();
    expect((await kept()).files).toHaveLength(1);
    expect(problems).toHaveBeenCalledTimes(1);
  });

  it('trusts the right clock after a start with a clock that was behind', async () => {
    await keepAll([idOfAge(40 * DAY), idOfAge(HOUR)]);
    const lastUse = lastUseIn(parts.data.path);
    await retention({ days: 90 }, { lastUse }).pass();
    await retention({ days: 90 }, { lastUse, clock: () => NOW - 20 * DAY }).pass();
    await retention({ days: 30 }, { lastUse }).pass();
    expect((await kept()).files).toHaveLength(1);
    expect(problems).not.toHaveBeenCalled();
  });

  it('trusts a clock that was behind at the start and was then set to the time of the last use', async () => {
    await keepAll([idOfAge(40 * DAY), idOfAge(HOUR)]);
    const lastUse = lastUseIn(parts.data.path);
    await retention({ days: 90 }, { lastUse }).pass();
    let now = 0;
    const days = retention({ days: 30 }, { lastUse, clock: () => now });
    await days.pass();
    now = NOW;
    await days.pass();
    expect((await kept()).files).toHaveLength(1);
    expect(problems).not.toHaveBeenCalled();
  });

  it('removes old records without files, in as many steps as needed', async () => {
    const ids = Array.from({ length: 100 }, (_, at) => idOfAge(3 * DAY) + at);
    const young = idOfAge(HOUR);
    await Promise.all([...ids, young].map((id) => parts.results.insert(resultOf(id, { failed: true }))));
    const days = retention({ days: 1 });
    await days.pass();
    expect(await kept()).toEqual({ files: [], records: [young] });
    expect(days.counts).toEqual({ screenshots: 0, records: 100, bytes_freed: 0 });
  });

  it('removes the records of failed captures from the data directory, by age and to make room', async () => {
    const [older, old, young] = [idOfAge(3 * DAY), idOfAge(DAY), idOfAge(HOUR)];
    for (const id of [older, old]) await parts.captureStore.keep(captureOf(id, { failed: true }), null);
    await keepAll([young]);
    const size = await parts.artifacts.sizeOf(older);
    const days = retention({ days: 2 });
    await days.pass();
    expect(days.counts).toEqual({ screenshots: 0, records: 1, bytes_freed: size });
    expect(await Array.fromAsync(parts.artifacts.oldest())).toEqual([old, young]);
    const bytes = retention({ bytes: await parts.artifacts.sizeOf(young) });
    await bytes.pass();
    expect(bytes.counts).toEqual({ screenshots: 0, records: 1, bytes_freed: size });
    expect(await Array.fromAsync(parts.artifacts.oldest())).toEqual([young]);
    expect(await kept()).toEqual({ files: [young], records: [young] });
  });

  it('removes the oldest captures until the files are within the limit, and not one more', async () => {
    const ids = Array.from({ length: 80 }, (_, at) => idOfAge(HOUR - at * 30_000));
    await keepAll(ids);
    const total = await parts.artifacts.measure();
    const size = await parts.artifacts.sizeOf(idOfAge(HOUR));
    const bytes = retention({ bytes: total - 50 * size });
    await bytes.pass();
    const newest = ids.slice(50).reverse();
    expect(await kept()).toEqual({ files: newest, records: newest });
    expect(parts.artifacts.bytes).toBe(await parts.artifacts.measure());
    expect(bytes.counts).toMatchObject({
      screenshots: 50,
      records: 50,
      bytes_freed: total - (parts.artifacts.bytes ?? 0),
    });
    await bytes.pass();
    expect(bytes.counts.screenshots).toBe(50);
  });

  it('never makes room by removing captures that are younger than a minute', async () => {
    const [young, old] = [idOfAge(59_000), idOfAge(61_000)];
    await keepAll([young, old]);
    await retention({ bytes: 1 }).pass();
    expect((await kept()).files).toEqual([young]);
  });

  it('counts captures of this process at once, and those of other processes later', async () => {
    let now = NOW;
    const [first, second, third] = [idOfAge(5 * HOUR), idOfAge(4 * HOUR), idOfAge(3 * HOUR)];
    await keepAll([first]);
    const bytes = retention({ bytes: Math.round(1.5 * (await parts.artifacts.sizeOf(first))) }, { clock: () => now });
    await bytes.pass();
    expect((await kept()).files).toEqual([first]);
    await keepAll([second]);
    await bytes.pass();
    expect((await kept()).files).toEqual([second]);

    const other = await openParts(directory.path);
    await keepPicture(other.captureStore, third);
    await other.close();
    await bytes.pass();
    expect((await kept()).files).toEqual([third, second]);
    now += 10 * 60_000;
    await bytes.pass();
    expect((await kept()).files).toEqual([third]);
  });

  it('lets readers read an open artifact to the end', async () => {
    const id = idOfAge(2 * DAY);
    await keepAll([id]);
    const image = await parts.artifacts.open(id, 'image');
    await retention({ days: 1 }).pass();
    expect((await kept()).files).toEqual([]);
    expect(image && (await buffer(image.stream())).length).toBe(image?.bytes);
  });

  it('removes nothing while the database is away, and everything due when it is back', async () => {
    const ids = [idOfAge(2 * DAY), idOfAge(3 * DAY)];
    await keepAll(ids);
    const days = retention({ days: 1 });
    const other = new DatabaseSync(databaseFile(directory.path));
    other.exec('BEGIN IMMEDIATE');
    await days.pass();
    expect((await kept()).files).toEqual(ids);
    other.exec('ROLLBACK');
    other.close();
    await days.pass();
    expect(await kept()).toEqual({ files: [], records: [] });
    expect(problems).not.toHaveBeenCalled();
  });

  it('works without a database', async () => {
    await keepAll([idOfAge(2 * DAY)]);
    const without = await openParts(directory.path, { database: false });
    const { artifacts, results, captureStore } = without;
    const days = retention({ days: 1 }, { artifacts, results, remove: (ids) => captureStore.remove(ids) });
    await days.pass();
    expect(days.counts).toMatchObject({ screenshots: 1, records: 0 });
    await without.close();
  });

  it('runs in one process at a time', async () => {
    await keepAll([idOfAge(2 * DAY)]);
    const held = holdLock(retentionLock(parts.data.path));
    const days = retention({ days: 1 });
    await days.pass();
    expect((await kept()).files).toHaveLength(1);
    held?.release();
    await days.pass();
    expect((await kept()).files).toEqual([]);
  });

  it('continues after a capture that cannot be removed, and reports it', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => idOfAge(2 * DAY) + at);
    await keepAll(ids);
    const broken = new CapstanError('internal');
    const days = retention(
      { days: 1 },
      {
        remove: (step) => (step.includes(idOfAge(2 * DAY)) ? Promise.reject(broken) : parts.captureStore.remove(step)),
      },
    );
    await days.pass();
    expect(problems).toHaveBeenCalledWith(broken);
    expect((await kept()).files).toEqual(ids.slice(0, 32).reverse());
  });

  it('starts with the service, continues by itself, and stops between two steps', async () => {
    await keepAll([idOfAge(2 * DAY)]);
    const removed = vi.fn();
    const days = retention({ days: 1 }, { intervalMs: 5, onRemoved: removed });
    days.start();
    await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(1), 20_000);
    await keepAll([idOfAge(3 * DAY)]);
    await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(2), 20_000);
    await days.stop();

    const ids = Array.from({ length: 100 }, (_, at) => idOfAge(2 * DAY) + at);
    await keepAll(ids);
    const removing = Promise.withResolvers<void>();
    const stopped = retention(
      { days: 1 },
      {
        remove: (step) => {
          removing.resolve();
          return parts.captureStore.remove(step);
        },
      },
    );
    stopped.start();
    await removing.promise;
    await stopped.stop();
    expect((await kept()).files).toHaveLength(68);
    expect(problems).not.toHaveBeenCalled();
  });

  it('does nothing without a limit', async () => {
    await keepAll([idOfAge(1000 * DAY)]);
    retention({}).start();
    await retention({}).pass();
    expect((await kept()).files).toHaveLength(1);
    expect(parts.artifacts.bytes).toBeNull();
  });
});
