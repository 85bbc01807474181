import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import type { Retention, RetentionOptions } from '../../src/storage/captures/retention.ts';
import { holdLock } from '../../src/storage/files/held-lock.ts';
import { retentionLock } from '../../src/storage/files/layout.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { databaseFile, keepPicture, openParts, type Parts } from './parts.ts';
import { captureOf, resultOf } from './result-of.ts';
import { DAY, HOUR, idOfAge, keptIn, NOW, type RetentionLimits, retentionOf } from './retention-of.ts';

describe('retention', () => {
  let directory: string;
  let parts: Parts;
  let started: Retention[];
  const problems = vi.fn<(problem: unknown) => void>();

  beforeEach(async () => {
    directory = await makeDirectory();
    parts = await openParts(directory);
    started = [];
    problems.mockReset();
  });

  afterEach(async () => {
    for (const one of started) await one.stop();
    await parts.close();
  });

  function retention(limits: RetentionLimits, options: Partial<RetentionOptions> = {}): Retention {
    const made = retentionOf(parts, limits, { onProblem: problems, ...options });
    started.push(made);
    return made;
  }
  const kept = () => keptIn(parts);
  const keepAll = (ids: readonly number[]) => Promise.all(ids.map((id) => keepPicture(parts.captureStore, id)));

  it('removes files and records of captures that are too old, and keeps the others', async () => {
    const [old, older, young] = [idOfAge(2 * DAY + 1), idOfAge(90 * DAY), idOfAge(2 * DAY - 1000)];
    await keepAll([young, old, older]);
    const onRemoved = vi.fn();
    const { counts, ...days } = retention({ days: 2 }, { onRemoved });
    expect(counts).toEqual({ screenshots: 0, records: 0, bytes_freed: 0, postponed: 0, held_bytes: 0 });
    const bytes = (await parts.artifacts.sizeOf(old)) + (await parts.artifacts.sizeOf(older));
    await days.pass();
    expect(await kept()).toEqual({ files: [young], records: [young] });
    expect(onRemoved.mock.calls).toEqual([[{ screenshots: 2, records: 2, bytes_freed: bytes }]]);
    await days.pass();
    expect(onRemoved).toHaveBeenCalledTimes(1);
    expect(problems).not.toHaveBeenCalled();
  });

  it.each([
    [1500, 1000, 500],
    [12_000, 1200, 10_800],
  ])(
    'removes at most a tenth of %d captures by age in one pass, or 1000: %d, and the rest in hourly passes',
    async (all, quota, left) => {
      const ids = Array.from({ length: all }, (_, at) => idOfAge(HOUR) + at);
      await Promise.all(ids.map((id) => parts.results.insert(resultOf(id, { failed: true }))));
      const onPostponed = vi.fn();
      let passed = 0;
      // The clock is set forward by 40 days.
      const options = { onPostponed, clock: () => NOW + 40 * DAY, elapsed: () => passed };
      const days = retention({ days: 30 }, options);
      await days.pass();
      expect(await parts.results.oldest(all, Number.MAX_SAFE_INTEGER)).toEqual(ids.slice(quota));
      expect(days.counts).toMatchObject({ screenshots: 0, records: quota, bytes_freed: 0, postponed: left });
      expect(onPostponed.mock.calls).toEqual([[left]]);
      passed = HOUR - 1;
      await days.pass();
      // Another process must wait, too.
      await retention({ days: 30 }, options).pass();
      expect(await parts.results.oldest(all, Number.MAX_SAFE_INTEGER)).toHaveLength(left);
      passed = HOUR;
      await days.pass();
      const next = Math.min(left, Math.max(1000, left / 10));
      expect(days.counts).toMatchObject({ records: quota + next, postponed: left - next });
    },
  );

  it('leaves the captures that a clock set forward makes too old once the clock is set back', async () => {
    const ids = Array.from({ length: 1100 }, (_, at) => idOfAge(HOUR) + at);
    await Promise.all(ids.map((id) => parts.results.insert(resultOf(id, { failed: true }))));
    let [now, passed] = [NOW + 40 * DAY, 0];
    const days = retention({ days: 30 }, { clock: () => now, elapsed: () => passed });
    await days.pass();
    now = NOW;
    passed = HOUR;
    await days.pass();
    expect(await parts.results.oldest(ids.length, Number.MAX_SAFE_INTEGER)).toHaveLength(100);
    expect(days.counts.postponed).toBe(0);
  });

  it('makes room while it waits to continue removing by age', async () => {
    const ids = Array.from({ length: 1001 }, (_, at) => idOfAge(2 * DAY) + at);
    await Promise.all(ids.map((id) => parts.results.insert(resultOf(id, { failed: true }))));
    const young = idOfAge(HOUR);
    const both = retention({ days: 1, bytes: 1 });
    await both.pass();
    await keepAll([young]);
    await both.pass();
    expect(both.counts).toMatchObject({ screenshots: 1, postponed: 1 });
    expect((await kept()).files).toEqual([]);
  });

  it('removes old records without files, in as many steps as needed', async () => {
    const ids = Array.from({ length: 100 }, (_, at) => idOfAge(3 * DAY) + at);
    const young = idOfAge(HOUR);
    await Promise.all([...ids, young].map((id) => parts.results.insert(resultOf(id, { failed: true }))));
    const days = retention({ days: 1 });
    await days.pass();
    expect(await kept()).toEqual({ files: [], records: [young] });
    expect(days.counts).toMatchObject({ screenshots: 0, records: 100, bytes_freed: 0 });
  });

  it('removes the records of failed captures from the data directory, by age and to make room', async () => {
    const [older, old, young] = [idOfAge(3 * DAY), idOfAge(DAY), idOfAge(HOUR)];
    for (const id of [older, old]) await parts.captureStore.keep(captureOf(id, { failed: true }), null);
    await keepAll([young]);
    const size = await parts.artifacts.sizeOf(older);
    const days = retention({ days: 2 });
    await days.pass();
    expect(days.counts).toMatchObject({ screenshots: 0, records: 1, bytes_freed: size });
    expect(await Array.fromAsync(parts.artifacts.oldest())).toEqual([old, young]);
    const bytes = retention({ bytes: await parts.artifacts.sizeOf(young) });
    await bytes.pass();
    expect(bytes.counts).toMatchObject({ screenshots: 0, records: 1, bytes_freed: size });
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

  it('removes only the oldest captures of the API key with the most bytes', async () => {
    const [quiet, shop] = [
      [idOfAge(9 * HOUR), idOfAge(8 * HOUR)],
      [idOfAge(7 * HOUR), idOfAge(7 * HOUR) + 1],
    ];
    const flood = Array.from({ length: 40 }, (_, at) => idOfAge(6 * HOUR) + at);
    const keys = [
      [undefined, quiet],
      ['shop', shop],
      ['flood', flood],
    ] as const;
    for (const [api_key_name, ids] of keys)
      await Promise.all(ids.map((id) => keepPicture(parts.captureStore, id, { api_key_name })));
    const size = await parts.artifacts.sizeOf(flood[0] ?? 0);
    await retention({ bytes: (await parts.artifacts.measure()) - 30 * size }).pass();
    const left = [...quiet, ...shop, ...flood.slice(30)].reverse();
    expect(await kept()).toEqual({ files: left, records: left });
    // Several keys are cut to the same size when removing from the largest is not enough.
    await retention({ bytes: 3 * size }).pass();
    expect((await kept()).files).toEqual([flood[39], shop[1], quiet[1]]);
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

    const other = await openParts(directory);
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
    const other = new DatabaseSync(databaseFile(directory));
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
    const without = await openParts(directory, { database: false });
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
    await expect.poll(() => removed).toHaveBeenCalledTimes(1);
    await keepAll([idOfAge(3 * DAY)]);
    await expect.poll(() => removed).toHaveBeenCalledTimes(2);
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
