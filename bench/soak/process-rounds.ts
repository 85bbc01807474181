import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ground, type Served, serve } from '../../test/commands/capstan-process.ts';
import { stats } from '../../test/faults/client.ts';
import type { Random } from '../../test/faults/random.ts';
import { problemsOf } from '../../test/faults/stored-captures.ts';
import { mountSmallDisk, whyNoTmpfs } from '../../test/faults/tmpfs.ts';
import { runUntilKilled } from '../../test/faults/until-killed.ts';
import { startSite } from '../../test/fixtures/site.ts';
import type { Finding } from '../support/table.ts';
import { descriptorExhaustion } from './descriptor-exhaustion.ts';
import { dnsStarvation } from './dns-starvation.ts';
import { fullDisks } from './full-disks.ts';
import { killedService } from './killed-service.ts';
import { lineBomb } from './line-bomb.ts';
import { navigationFlood } from './navigation-flood.ts';
import { Answers, type ProcessFault, type ProcessSurroundings, recovered } from './process-fault.ts';
import { peakResidentMiB } from './resident-memory.ts';
import { unreadLogPipe } from './unread-log-pipe.ts';

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

export interface ProcessRounds {
  readonly seconds: number;
  readonly random: Random;
  /** MongoDB in place of SQLite. */
  readonly mongoUrl: string | undefined;
}

/**
 * Runs the service as a process of its own: each round starts it, checks everything that was answered in the rounds
 * before, causes one fault beside clients, and ends with `kill -9` at a random moment. Every fault has at least one
 * round. Resolves with the findings and what was wrong.
 */
export async function runProcessRounds({ seconds, random, mongoUrl }: ProcessRounds): Promise<{
  readonly findings: readonly Finding[];
  readonly problems: readonly string[];
}> {
  await using place = await ground();
  const site = await startSite();
  const diskPath = join(place.path, 'disk');
  await mkdir(diskPath);
  await using disk = whyNoTmpfs === undefined ? await mountSmallDisk(diskPath, DISK_KIB) : undefined;
  const surroundings: ProcessSurroundings = { place, site, disk };
  const faults = FAULTS.filter(({ name, whyNot }) => {
    const reason = whyNot?.(surroundings);
    if (reason !== undefined) console.log(`without ${name}: ${reason}`);
    return reason === undefined;
  });
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
    await using prepared = await fault.prepare(surroundings);
    const service = await start(prepared);
    const [known, wrong] = [answers.records.length, answers.problems.length + losses.length];
    await check(service);
    await prepared.run(service, answers);
    const residentMiB = await peakResidentMiB(service.child.pid);
    largestMiB = Math.max(largestMiB, residentMiB);
    for (const result of await runUntilKilled(service, site, random)) answers.note({ code: '', result });
    console.log(
      `round ${rounds + 1}: ${fault.name}; ${known} answered before and checked, ${answers.records.length - known} now; ` +
        `at most ${residentMiB.toFixed(0)} MiB resident; killed` +
        `${answers.problems.length + losses.length > wrong ? '; PROBLEMS' : ''}`,
    );
  }
  await using last = await killedService.prepare(surroundings);
  const service = await start(last);
  await check(service);
  service.child.kill('SIGTERM');
  const { code } = await service.ended;
  await site.close();

  const exact = (what: string, figure: number): Finding => ({
    what,
    figure: String(figure),
    target: '0',
    met: figure === 0,
  });
  return {
    problems: [...answers.problems, ...losses],
    findings: [
      exact(`process: unexpected answers beside the faults of ${rounds} rounds`, answers.problems.length),
      exact(`process: problems in ${answers.records.length} answered records, checked after each kill`, losses.length),
      exact('process: exit code after SIGTERM', code ?? Number.NaN),
      {
        what: 'process: resident memory without browsers, MiB',
        figure: largestMiB.toFixed(0),
        target: `<= ${MAX_RESIDENT_MIB}`,
        met: largestMiB <= MAX_RESIDENT_MIB,
      },
    ],
  };
}
