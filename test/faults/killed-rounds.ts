import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Ground, type Served, serve } from '../commands/capstan-process.ts';
import type { Site } from '../fixtures/site.ts';
import { type AnsweredResult, capture, captureBatch, stats } from './client.ts';
import type { Random } from './random.ts';
import { problemsOf } from './stored-captures.ts';

/** Pages that are done quickly, so that much of what is under way is under way in the stores; and one that fails. */
const PATHS = ['/title?t=one', '/title?t=two', '/short', '/404', '/empty-response'] as const;
const LANES = 4;

export interface KilledRounds {
  readonly site: Site;
  readonly place: Ground;
  /** Of `capstan serve`: which database. */
  readonly flags: readonly string[];
  /** What is done to the service's surroundings in each round, once it has started and until it has been killed. */
  readonly rounds: readonly (() => Disposable | undefined)[];
  readonly random: Random;
}

/**
 * Starts a service, gives it batches and single captures, kills it with -9 at a random moment, and again, on the same
 * data; after each start everything that was ever answered is looked for. Resolves with how much was answered.
 */
export async function killInRounds({ site, place, flags, rounds, random }: KilledRounds): Promise<number> {
  const answered: AnsweredResult[] = [];
  const start = () => serve(['--allow-targets', '127.0.0.1', '--max-concurrent', '4', ...flags], place.options);
  for (const disturb of rounds) {
    const service = await start();
    await expectEverything(service, place, answered);
    using _ = disturb();
    answered.push(...(await runUntilKilled(service, site, random)));
  }
  const last = await start();
  await expectEverything(last, place, answered);
  last.child.kill('SIGTERM');
  await last.ended;
  return answered.length;
}

async function expectEverything(service: Served, place: Ground, answered: readonly AnsweredResult[]): Promise<void> {
  await expect
    .poll(async () => (await stats(service.url)).store, { timeout: 60_000 })
    .toEqual({ state: 'up', outbox: 0 });
  expect(await problemsOf(service.url, `${place.path}/data`, answered)).toEqual([]);
}

/** What was answered before the end. */
async function runUntilKilled(service: Served, site: Site, random: Random): Promise<readonly AnsweredResult[]> {
  const answered: AnsweredResult[] = [];
  const enough = random.integer(2, 7);
  const lateMs = random.integer(0, 150);
  const anyUrl = () => site.url(random.pick(PATHS));
  let killed = false;
  const note = async (results: readonly (AnsweredResult | null)[]) => {
    const before = answered.length;
    answered.push(...results.filter((result) => result !== null));
    if (before >= enough || answered.length < enough) return;
    await delay(lateMs);
    killed = true;
    service.child.kill('SIGKILL');
  };
  const worker = async () => {
    while (!killed) await note([(await capture(service.url, { url: anyUrl() })).result]);
  };
  const batches = async () => {
    while (!killed) {
      const elements = await captureBatch(service.url, [anyUrl(), anyUrl(), anyUrl()], 2);
      await note(elements.map(({ result }) => result));
    }
  };
  // The answers that were on their way when it was killed are broken off.
  const brokenOff = (error: unknown) => {
    if (!killed) throw error;
  };
  await Promise.all([...Array.from({ length: LANES }, worker), batches()].map((client) => client.catch(brokenOff)));
  await service.ended;
  return answered;
}
