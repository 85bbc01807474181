import { expect } from 'vitest';
import { type Ground, type Served, serve } from '../commands/capstan-process.ts';
import type { Site } from '../fixtures/site.ts';
import { type AnsweredResult, stats } from './client.ts';
import type { Random } from './random.ts';
import { problemsOf } from './stored-captures.ts';
import { runUntilKilled } from './until-killed.ts';

export interface KilledRounds {
  readonly site: Site;
  readonly place: Ground;
  /** Options of `capstan serve` that choose the database. */
  readonly flags: readonly string[];
  /** A fault that is injected in each round, from the start of the service until it is killed. */
  readonly rounds: readonly (() => Disposable | undefined)[];
  readonly random: Random;
}

/**
 * Repeatedly starts a service, sends batches and single captures, and kills it with -9 at a random moment, on the same
 * data. After each start it checks everything that was ever answered. Resolves with the number of answers.
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
  await expect.poll(async () => (await stats(service.url)).store).toEqual({ state: 'up', outbox: 0 });
  expect(await problemsOf(service.url, `${place.path}/data`, answered)).toEqual([]);
}
