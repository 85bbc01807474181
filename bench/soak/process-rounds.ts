import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ground, type Served, serve } from '../../test/commands/capstan-process.ts';
import { type AnsweredResult, stats } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { problemsOf } from '../../test/faults/stored-captures.ts';
import { runUntilKilled } from '../../test/faults/until-killed.ts';
import { startSite } from '../../test/fixtures/site.ts';
import { atMost, exactly, type Finding } from '../support/table.ts';
import { within } from './time-limit.ts';

/** Minimum number of rounds, also of a short soak. */
const MIN_ROUNDS = 3;
/** Upper bound of the service's own resident memory, without the browsers. */
const MAX_RESIDENT_MIB = 512;
/** Time limit for each step of a round (start, check, kill): ten times what a loaded machine needs. */
const STEP_MS = 60_000;

export interface ProcessRounds {
  readonly seconds: number;
  readonly random: Random;
  /** MongoDB in place of SQLite. */
  readonly mongoUrl: string | undefined;
}

/**
 * Runs the service as a process of its own. Each round starts it, checks that all answers of earlier rounds still hold,
 * and ends with `kill -9` at a random moment while clients send requests.
 */
export async function runProcessRounds({ seconds, random, mongoUrl }: ProcessRounds): Promise<{
  readonly findings: readonly Finding[];
  readonly problems: readonly string[];
}> {
  const place = await ground();
  const site = await startSite();
  const database = mongoUrl === undefined ? ['--db-path', 'results.db'] : ['--mongo-url', mongoUrl];
  const usual = ['--allow-targets', '127.0.0.1', '--max-concurrent', '4', ...database];
  const answered: AnsweredResult[] = [];
  const problems: string[] = [];
  const startChecked = async (): Promise<Served> => {
    const service = await within('the start', STEP_MS, serve(usual, place.options));
    await within('the database', STEP_MS, untilWritten(service));
    const found = problemsOf(service.url, join(place.path, 'data'), answered);
    problems.push(...(await within('the check of what was answered before', STEP_MS, found)));
    return service;
  };

  let rounds = 0;
  let largestMiB = 0;
  const until = performance.now() + seconds * 1000;
  for (; rounds < MIN_ROUNDS || performance.now() < until; rounds += 1) {
    const startedAt = performance.now();
    const known = answered.length;
    const service = await startChecked();
    let residentMiB = 0;
    const beforeKill = async () => {
      residentMiB = await peakResidentMiB(service.child.pid);
    };
    const killed = runUntilKilled(service, site, random, beforeKill);
    answered.push(...(await within('the load until the kill', STEP_MS, killed)));
    largestMiB = Math.max(largestMiB, residentMiB);
    console.log(
      `round ${rounds + 1}: ${known} answered before and checked, ${answered.length - known} now; ` +
        `at most ${residentMiB.toFixed()} MiB resident; killed after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    );
  }
  const service = await startChecked();
  service.child.kill('SIGTERM');
  const { code } = await within('the stop', STEP_MS, service.ended);
  await site.close();

  return {
    problems,
    findings: [
      exactly(`process: problems in ${answered.length} records after ${rounds} rounds of kill -9`, problems.length, 0),
      exactly('process: exit code after SIGTERM', code ?? Number.NaN, 0),
      atMost('process: resident memory without browsers', largestMiB, MAX_RESIDENT_MIB, { digits: 0, unit: ' MiB' }),
    ],
  };
}

/** Resolves when no record waits for the database. */
async function untilWritten({ url }: Served): Promise<void> {
  for (;;) {
    const { store } = await stats(url);
    if (store.state === 'up' && store.outbox === 0) return;
    await delay(50);
  }
}

/** Returns the largest resident memory that a process has had, in MiB. */
async function peakResidentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
