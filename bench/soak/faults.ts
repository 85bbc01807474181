import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/faults/random.ts';
import type { MongoServer } from '../../test/support/mongo.ts';

/** What can be done to a service's surroundings. */
export interface Surroundings {
  /** Process ids of the browsers that serve now. */
  readonly browsers: () => readonly number[];
  /** Takes the database away, and gives the way to bring it back. */
  readonly stopDatabase: () => Promise<() => Promise<void>>;
}

/** Faults begin within this after the wave. */
const MOMENT_MS = 2500;
const MIN_AWAY_MS = 500;
const MAX_AWAY_MS = 4000;

type Fault = (surroundings: Surroundings, random: Random) => Promise<string>;

const kill: Fault = async ({ browsers }) => {
  const [pid] = browsers();
  if (pid === undefined) return 'no browser to kill';
  process.kill(pid, 'SIGKILL');
  return 'browser killed';
};

const hang: Fault = async ({ browsers }) => {
  const [pid] = browsers();
  if (pid === undefined) return 'no browser to stop';
  process.kill(pid, 'SIGSTOP');
  return 'browser hung';
};

const databaseAway: Fault = async ({ stopDatabase }, random) => {
  const awayMs = random.integer(MIN_AWAY_MS, MAX_AWAY_MS);
  const bringBack = await stopDatabase();
  await delay(awayMs);
  await bringBack();
  return `database away ${awayMs} ms`;
};

/** In a short soak a browser that hangs would cost most of the time: it is found out after ten seconds. */
const COMMON = [kill, kill, databaseAway, databaseAway, databaseAway] as const;
const RARE = [...COMMON, ...COMMON, hang] as const;

/** One or two faults at random moments, or none. Resolves with what was done. */
export async function anyFaults(surroundings: Surroundings, random: Random, long: boolean): Promise<string> {
  const faults = Array.from({ length: random.integer(0, 2) }, () => ({
    fault: random.pick<Fault>(long ? RARE : COMMON),
    afterMs: random.integer(0, MOMENT_MS),
  }));
  const done = faults
    // Two of them at once would not be two absences.
    .filter(({ fault }, at) => fault !== databaseAway || faults.findIndex((one) => one.fault === fault) === at)
    .map(async ({ fault, afterMs }) => {
      await delay(afterMs);
      return fault(surroundings, random);
    });
  return (await Promise.all(done)).join(', ') || 'undisturbed';
}

/** SQLite's file, locked by another process. */
export async function lockSqlite(path: string): Promise<() => Promise<void>> {
  const child = fork(join(import.meta.dirname, 'lock-process.ts'), [path]);
  await once(child, 'message');
  return async () => {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  };
}

export async function stopMongo(mongo: MongoServer): Promise<() => Promise<void>> {
  await mongo.stop();
  return () => mongo.start();
}
