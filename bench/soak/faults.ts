import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/faults/random.ts';

/** The browsers and the database of a service, in which faults are caused. */
export interface Surroundings {
  /** Process ids of the current browsers. */
  readonly browsers: () => readonly number[];
  /** Makes the database unavailable; resolves with the function that brings it back. */
  readonly stopDatabase: () => Promise<() => Promise<void>>;
}

/** Every fault begins within this time after the wave. */
const START_MS = 2500;
const MIN_AWAY_MS = 500;
const MAX_AWAY_MS = 4000;

type Fault = (surroundings: Surroundings, random: Random) => Promise<string>;

const signalled =
  (signal: NodeJS.Signals): Fault =>
  async ({ browsers }) => {
    const [pid] = browsers();
    if (pid === undefined) return `no browser for ${signal}`;
    process.kill(pid, signal);
    return `${signal} for a browser`;
  };
const kill = signalled('SIGKILL');
const hang = signalled('SIGSTOP');

const databaseAway: Fault = async ({ stopDatabase }, random) => {
  const awayMs = random.integer(MIN_AWAY_MS, MAX_AWAY_MS);
  const bringBack = await stopDatabase();
  await delay(awayMs);
  await bringBack();
  return `database away ${awayMs} ms`;
};

/** Hangs are left out of short soaks: a hung browser is detected after 10 s. */
const COMMON = [kill, kill, databaseAway, databaseAway, databaseAway] as const;
const RARE = [...COMMON, ...COMMON, hang] as const;

/** Causes up to two faults at random times. Resolves with their descriptions. */
export async function anyFaults(surroundings: Surroundings, random: Random, long: boolean): Promise<string> {
  const faults = Array.from({ length: random.integer(0, 2) }, () => ({
    fault: random.pick<Fault>(long ? RARE : COMMON),
    afterMs: random.integer(0, START_MS),
  }));
  const done = faults
    // Two overlapping outages of the database would be one.
    .filter(({ fault }, at) => fault !== databaseAway || faults.findIndex((one) => one.fault === fault) === at)
    .map(async ({ fault, afterMs }) => {
      await delay(afterMs);
      return fault(surroundings, random);
    });
  return (await Promise.all(done)).join(', ') || 'undisturbed';
}

/**
 * Locks SQLite's file from another process: while this one holds a lock of its own, SQLite would keep descriptors open.
 * Resolves with the function that unlocks it.
 */
export async function lockSqlite(path: string): Promise<() => Promise<void>> {
  const child = fork(join(import.meta.dirname, 'lock-process.ts'), [path]);
  await once(child, 'message');
  return async () => {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  };
}
