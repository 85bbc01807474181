import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ground, type Served, serve } from '../../test/commands/capstan-process.ts';
import { stats } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { problemsOf } from '../../test/faults/stored-captures.ts';
import { mountSmallDisk, whyNoTmpfs } from '../../test/faults/tmpfs.ts';
import { runUntilKilled } from '../../test/faults/until-killed.ts';
import { startSite } from '../../test/fixtures/site.ts';
import { atMost, exactly, type Finding } from '../support/table.ts';
import { descriptorExhaustion } from './descriptor-exhaustion.ts';
import { dnsStarvation } from './dns-starvation.ts';
import { fullDisks } from './full-disks.ts';
import { lineBomb } from './line-bomb.ts';
import { navigationFlood } from './navigation-flood.ts';
import { Answers, type ProcessFault, type ProcessSurroundings, recovered } from './process-fault.ts';
import { within } from './time-limit.ts';
import { unreadLogPipe } from './unread-log-pipe.ts';

/** Causes no fault of its own: every round ends with `kill -9`. */
const killedService: ProcessFault = {
  name: 'kill -9',
  prepare: async () => ({ run: async () => undefined, [Symbol.asyncDispose]: async () => undefined }),
};

const FAULTS: readonly ProcessFault[] = [
  killedService,
  dnsStarvation,
  navigationFlood,
  unreadLogPipe,
  descriptorExhaustion,
  fullDisks,
  lineBomb,
];

/** Room for about 2000 captures of short pages. */
const DISK_KIB = 96 * 1024;
/** Upper bound of the service's own resident memory, without the browsers. */
const MAX_RESIDENT_MIB = 512;
/** Time limit for each step of a round (start, check, fault, kill): ten times what a loaded machine needs. */
const STEP_MS = 60_000;
/** Number of lines of the service's log that a problem shows. */
const LOG_LINES = 40;

/** Names of all faults. */
export const FAULT_NAMES: readonly string[] = FAULTS.map(({ name }) => name);

export interface ProcessRounds {
  readonly seconds: number;
  readonly random: Random;
  /** MongoDB in place of SQLite. */
  readonly mongoUrl: string | undefined;
  /** Names of faults that are left out. */
  readonly without: readonly string[];
}

/**
 * Runs the service as a process of its own. Each round starts it, checks that all answers of earlier rounds still hold,
 * causes one fault while clients send requests, and ends with `kill -9` at a random moment. Every fault has at least
 * one round. Resolves with the findings and the problems.
 */
export async function runProcessRounds({ seconds, random, mongoUrl, without }: ProcessRounds): Promise<{
  readonly findings: readonly Finding[];
  readonly problems: readonly string[];
}> {
  const place = await ground();
  const site = await startSite();
  const diskPath = join(place.path, 'disk');
  await mkdir(diskPath);
  await using disk = whyNoTmpfs === undefined ? await mountSmallDisk(diskPath, DISK_KIB) : undefined;
  const surroundings: ProcessSurroundings = { place, site, disk };
  const notCaused: string[] = [];
  const faults = FAULTS.filter(({ name, whyNot }) => {
    if (without.includes(name)) return false;
    const reason = whyNot?.(surroundings);
    if (reason !== undefined) notCaused.push(`${name}: ${reason}`);
    return reason === undefined;
  });
  for (const text of notCaused) console.log(`not caused: ${text}`);
  const database = mongoUrl === undefined ? ['--db-path', 'disk/results.db'] : ['--mongo-url', mongoUrl];
  const usual = ['--data-dir', 'disk/data', '--allow-targets', '127.0.0.1', '--max-concurrent', '4', ...database];
  const start = ({ args = [], options = {} }: Awaited<ReturnType<ProcessFault['prepare']>>) =>
    serve([...usual, ...args], { ...place.options, ...options });

  const answers = new Answers();
  const losses: string[] = [];
  const check = async (service: Served) => {
    await recovered('records wait for the database', async () => {
      const { store } = await stats(service.url);
      return store.state === 'up' && store.outbox === 0;
    });
    losses.push(...(await problemsOf(service.url, join(diskPath, 'data'), answers.records)));
  };

  let rounds = 0;
  let largestMiB = 0;
  const until = performance.now() + seconds * 1000;
  for (; rounds < faults.length || performance.now() < until; rounds += 1) {
    const fault = faults[rounds % faults.length] ?? killedService;
    const startedAt = performance.now();
    const [known, wrong] = [answers.records.length, answers.problems.length + losses.length];
    const name = `round ${rounds + 1}: ${fault.name}`;
    await using prepared = await fault.prepare(surroundings);
    const step = <T>(what: string, work: Promise<T>) => within(`${name}: ${what}`, STEP_MS, work);
    const service = await step('the start', start(prepared));
    let residentMiB = 0;
    try {
      await step('the check of what was answered before', check(service));
      await step('the fault', prepared.run(service, answers));
      const beforeKill = async () => {
        residentMiB = await peakResidentMiB(service.child.pid);
      };
      const killed = await step('the load until the kill', runUntilKilled(service, site, random, beforeKill));
      for (const result of killed) answers.note({ code: '', result });
    } catch (error) {
      service.child.kill('SIGKILL');
      const { stderr } = await step('the kill', service.ended);
      const message = error instanceof Error ? error.message : String(error);
      answers.problems.push([message, ...stderr.trimEnd().split('\n').slice(-LOG_LINES)].join('\n'));
    }
    largestMiB = Math.max(largestMiB, residentMiB);
    console.log(
      `${name}; ${known} answered before and checked, ${answers.records.length - known} now; ` +
        `at most ${residentMiB.toFixed(0)} MiB resident; killed after ${((performance.now() - startedAt) / 1000).toFixed(1)} s` +
        `${answers.problems.length + losses.length > wrong ? '; PROBLEMS' : ''}`,
    );
  }
  await using last = await killedService.prepare(surroundings);
  const service = await within('the last start', STEP_MS, start(last));
  await within('the last check', STEP_MS, check(service));
  service.child.kill('SIGTERM');
  const { code } = await within('the stop', STEP_MS, service.ended);
  await site.close();

  return {
    problems: [...notCaused.map((text) => `not caused: ${text}`), ...answers.problems, ...losses],
    findings: [
      exactly('process: faults that could not be caused here', notCaused.length, 0),
      exactly(`process: unexpected answers beside the faults of ${rounds} rounds`, answers.problems.length, 0),
      exactly(
        `process: problems in ${answers.records.length} answered records, checked after each kill`,
        losses.length,
        0,
      ),
      exactly('process: exit code after SIGTERM', code ?? Number.NaN, 0),
      atMost('process: resident memory without browsers', largestMiB, MAX_RESIDENT_MIB, { digits: 0, unit: ' MiB' }),
    ],
  };
}

/** Returns the largest resident memory that a process has had, in MiB. */
async function peakResidentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
