import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import { ANY_CLIENT } from '../../src/capture/client.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { WatchEvent } from '../../src/capture/events.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../src/capture/request.ts';
import { createWatches, type Watches, type WatchesOptions } from '../../src/watches/watches.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { exampleResult } from '../support/example-result.ts';
import { makeDirectory } from '../support/temporary-directory.ts';
import { openDatabase } from './seeded-watches.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Less than this after it is due, a run delays none of the others: half of the shortest interval. */
const STEP_MS = 5 * MINUTE_MS;
const AT_ONCE = 8;

/** The watches whose runs `docs/watches.md` counts, in the order of its columns. */
const TIMINGS = [
  { every: '10m' },
  { schedule: '*/30 * * * *', jitter: '0s' },
  { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', jitter: '0s' },
];

/** A change of the clock in the middle of four hours: its row in the documentation, its time, and how far it jumps. */
const CHANGES = [
  ['nothing', '2026-05-02T00:10:00Z', 0],
  ['the clock is set an hour ahead, at 02:10', '2026-05-02T00:10:00Z', HOUR_MS],
  ['the clock is set an hour back, at 02:40', '2026-05-02T00:40:00Z', -HOUR_MS],
  ['daylight saving begins', '2026-03-29T01:00:00Z', 0],
  ['daylight saving ends', '2026-10-25T01:00:00Z', 0],
  ['the machine is suspended for 24 hours, at 02:10', '2026-05-02T00:10:00Z', DAY_MS],
] as const;

/** Each capture, of which nothing needs to be known. */
const INFO: ScreenshotInfo = {
  ...{ id: 1, url: '', host: '', title: '', width: 1, height: 1, bytes: 1, sha256: '', captured_at: '' },
  format: 'png',
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

describe('the runs of a watch while the clock changes', () => {
  describe('in SQLite', () => areAsDocumented(CHANGES, async () => join(await makeDirectory(), 'results.db')));

  // The others are computed without the database.
  const jumps = CHANGES.filter(([, , jump]) => jump !== 0);
  describeWithSharedMongo('in MongoDB', (url) => areAsDocumented(jumps, async (at) => `${url()}clock${at}`));
});

function areAsDocumented(changes: readonly (typeof CHANGES)[number][], placeOf: (at: number) => Promise<string>) {
  it.each(changes.map((change, at) => [...change, at] as const))(
    'are as many as documented: %s',
    async (name, middle, jump, at) => {
      const start = Date.parse(middle) - 2 * HOUR_MS;
      const { add, pass, tick, runs } = await running(start, { place: await placeOf(at) });
      const ids = await Promise.all(TIMINGS.map(add));
      await pass(2 * HOUR_MS);
      tick(jump);
      await pass(2 * HOUR_MS);
      const counted = ids.map((id) => runs().filter(({ watch }) => watch === id));
      // The first run is not one of those that are due by the clock.
      expect(counted.map(({ length }) => length - 1)).toEqual(await documented(name));
      for (const ofOne of counted) expect(new Set(ofOne.map(({ run }) => run.due)).size).toBe(ofOne.length);
    },
  );
}

describe('watches that the service cannot run', () => {
  it('are tried again later, and not all of them at once', async () => {
    let attempts = 0;
    const capture = () => {
      attempts += 1;
      return Promise.reject(new CapstanError('queue_full', 'full'));
    };
    const { add, tick, watches, runs } = await running(Date.parse('2026-05-02T00:00:00Z'), { parts: { capture } });
    for (let at = 0; at < 10 * AT_ONCE; at += 1) await add({ every: '1h' }, at);
    for (let second = 0; second < 5; second += 1) {
      const before = attempts;
      tick(1_000);
      await expect.poll(() => attempts).toBeGreaterThan(before);
    }
    await watches.stop();
    expect(attempts).toBeLessThanOrEqual(6 * AT_ONCE);
    expect(runs()).toEqual([]);
  });
});

interface RunningOptions {
  /** @default a new file */
  readonly place?: string;
  readonly parts?: Partial<WatchesOptions>;
}

/** Runs watches by a clock of its own. Their pages never differ. */
async function running(start: number, { place, parts }: RunningOptions) {
  const database = await openDatabase(place ?? join(await makeDirectory(), 'results.db'));
  let now = start;
  let ids = 0;
  const told: WatchEvent[] = [];
  let calls = 0;
  const counted = new Proxy(database.watches, {
    get: (store, name) => {
      const method: unknown = Reflect.get(store, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        calls += 1;
        return Promise.resolve(Reflect.apply(method, store, args)).finally(() => {
          calls -= 1;
        });
      };
    },
  });
  const watches: Watches = createWatches({
    store: counted,
    enabled: true,
    screen: () => undefined,
    serves: () => true,
    capture: async () => ({ state: 'stored', result: exampleResult(1), evidence: null }),
    eventsStored: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    announce: (event) => void (event.type === 'watch.run' && told.push(event)),
    artifacts: {
      info: async () => INFO,
      record: () => Promise.resolve(undefined),
      open: () => Promise.resolve(undefined),
    },
    comparisons: { of: () => Promise.resolve(undefined) },
    atOnce: () => AT_ONCE,
    ids: () => {
      ids += 1;
      return ids;
    },
    clock: () => now,
    report: (error) => {
      throw error;
    },
    ...parts,
  });
  onTestFinished(async () => {
    await watches.stop();
    await database.close();
  });
  const schema = requestSchemas(DEFAULT_LIMITS).watch;
  const isIdle = async () => {
    if (calls > 0) return false;
    const all = await database.watches.list({ ofKey: undefined, label: undefined, after: 0, limit: 100 });
    return all.items.every(({ dueAt }) => dueAt === null || dueAt > now);
  };
  /** Lets the clock show another time, and the timers of so long fire. */
  const tick = (ms: number): void => {
    now += ms;
    if (ms > 0) vi.advanceTimersByTime(Math.min(ms, MINUTE_MS));
  };
  return {
    watches,
    tick,
    runs: () => told,
    add: async (timing: object, at: number): Promise<number> => {
      const written = { url: `http://host${at}.test/`, ...timing };
      return (await watches.add({ ...schema.parse(written), written }, ANY_CLIENT)).id;
    },
    /** Lets time pass, and runs what is due. After a minute, the service has noticed a clock that was set back. */
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; ) {
        // Leases are shorter than a step, so no run may be under way.
        await expect.poll(isIdle, { interval: 1 }).toBe(true);
        const step = passed === 0 ? MINUTE_MS : STEP_MS - (passed % STEP_MS);
        tick(step);
        passed += step;
      }
      await expect.poll(isIdle, { interval: 1 }).toBe(true);
    },
  };
}

/** Returns the numbers of a row of the table in the documentation. */
async function documented(name: string): Promise<number[]> {
  const text = await readFile(join(import.meta.dirname, '../../docs/watches.md'), 'utf8');
  const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';
  return row.split('|').slice(2, -1).map(Number);
}
