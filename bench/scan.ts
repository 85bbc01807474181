import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../test/support/temporary-directory.ts';
import type { BenchOptions } from './support/bench.ts';
import { startDeadTargets } from './support/dead-targets.ts';
import { driverContender } from './support/driver-contender.ts';
import { besideRequests } from './support/neighbour.ts';
import { watchTree } from './support/process-tree.ts';
import { startServiceOn } from './support/service-on.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { median } from './support/statistics.ts';
import { atLeast, atMost, type Finding, formatTable } from './support/table.ts';

/*
 * Living pages among dead targets: a third of these refuses the connection, a third has no name, a third never answers.
 * `--captures`: living pages; there are nine times as many dead targets.
 */

const DEAD_PER_PAGE = 9;
const AT_ONCE = 64;
const USUAL = ['--max-batch', '100000', '--allow-targets', '127.0.0.0/8'];
/** Deadline of each capture in milliseconds: the time that a silent target takes. */
const TIMEOUT_MS = 10_000;

/** The targets, as multiples and shares. */
const FASTER = 8;
const OF_LIVING = 1.5;
const CPU_OF_PAGE = 0.03;
const LIVING = 0.95;
const BESIDE = 1.2;

/** Dead targets of a list beside which another key captures a page, their deadline, and the number of such lists. */
const BESIDE_DEAD = 300;
const BESIDE_TIMEOUT_MS = 3_000;
const BESIDE_ROUNDS = 15;

interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Compares a list with the same list without dialling ahead, and in a Playwright loop. */
export async function scan({ browserPath, captures, on, print, report }: BenchOptions): Promise<readonly Finding[]> {
  await using site = await startBenchSite();
  await using targets = await startDeadTargets(captures * DEAD_PER_PAGE);
  const living = site.urls(captures, 'site');
  const lists = { living, dead: targets.urls, all: interleaved(living, targets.urls) };
  const rows: string[][] = [];
  /** Captures a list, one of `lists`, and adds its row to the table. */
  const measured = async (
    name: string,
    what: keyof typeof lists,
    pid: number,
    captured: (urls: readonly string[]) => Promise<number>,
  ): Promise<Run> => {
    const urls = lists[what];
    const began = performance.now();
    const { value, cpuSeconds } = await watchTree(pid, () => captured(urls));
    const seconds = (performance.now() - began) / 1000;
    report(`scan: ${name}, ${what}: ${seconds.toFixed(1)} s`);
    rows.push([name, `${urls.length} (${what})`, String(value), seconds.toFixed(1), cpuSeconds.toFixed(1)]);
    return { seconds, cpuSeconds };
  };
  const scanned = (name: string, what: keyof typeof lists, service: ServiceProcess) =>
    measured(name, what, service.pid, async (urls) => {
      const lines = await sendList(service, urls, TIMEOUT_MS);
      return lines.filter((line) => line.includes('"failed":false')).length;
    });
  const scannedWith = async (name: string, args: readonly string[] = []) => {
    await using service = await startServiceProcess({ browserPath, args: [...USUAL, ...args] });
    return {
      living: await scanned(name, 'living', service),
      // Without dialling ahead, the dead ones of the list are enough.
      dead: args.length === 0 ? await scanned(name, 'dead', service) : undefined,
      all: await scanned(name, 'all', service),
    };
  };

  const dialled = await scannedWith('capstan');
  const undialled = await scannedWith('--max-dials 0', ['--max-dials', '0']);
  const delayed: Finding[] = [];
  for (const where of on ?? ['sqlite'])
    delayed.push(await besideDeadList(where, browserPath, lists.dead.slice(0, BESIDE_DEAD), living[0] ?? '', print));
  const options = { browserPath, concurrency: AT_ONCE, timeoutMs: TIMEOUT_MS };
  await using loop = await driverContender('Playwright loop', 'playwright-loop.ts', options).start();
  await measured('Playwright loop', 'all', loop.pid, (urls) => loop.run(urls, AT_ONCE));

  print(formatTable(['contender', 'targets', 'captured', 'seconds', 'CPU s'], rows));
  const faster = undialled.all.seconds / dialled.all.seconds;
  const share = (dialled.all.seconds - TIMEOUT_MS / 1000) / dialled.living.seconds;
  const cpu = (dialled.dead?.cpuSeconds ?? Number.NaN) / DEAD_PER_PAGE / dialled.living.cpuSeconds;
  const rate = undialled.living.seconds / dialled.living.seconds;
  return [
    atLeast('the list, times as fast as with --max-dials 0', faster, FASTER),
    atMost('the list without one deadline, of its living pages alone', share, OF_LIVING),
    atMost('CPU of a dead target, of a page', cpu, CPU_OF_PAGE, { digits: 3 }),
    atLeast('captures/s of living pages, of --max-dials 0', rate, LIVING),
    ...delayed,
  ];
}

/** Measures the time of a page of one key while another key's list is dialled, relative to its time alone. */
async function besideDeadList(
  where: string,
  browserPath: string,
  dead: readonly string[],
  page: string,
  print: (text: string) => void,
): Promise<Finding> {
  const keys = join(await makeDirectory(), 'keys');
  await writeFile(keys, 'lists:lists-key\npages:pages-key\n', { mode: 0o600 });
  const options = { browserPath, args: [...USUAL, '--isolate-keys', '--api-key-file', keys] };
  await using running = new AsyncDisposableStack();
  const service = await startServiceOn(where, options, running);
  const send = () => sendList(service, dead, BESIDE_TIMEOUT_MS, 'lists-key');
  const visit = async (): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': 'pages-key' };
    const request = { method: 'POST', headers, body: JSON.stringify({ url: page }) };
    const response = await fetch(`${service.origin}/screenshot`, request);
    if (response.status !== 200) throw new Error(`a page was answered ${response.status}`);
    await response.arrayBuffer();
  };
  await visit();
  const { alone, beside } = await besideRequests([{ what: 'a dead list', send }], visit, BESIDE_ROUNDS, print);
  const times = median(beside) / median(alone);
  return atMost(`p50 of a page beside another key's dead list, of its time alone (${where})`, times, BESIDE);
}

/** Sends a list as a batch. Resolves with the lines of its answer. */
async function sendList({ origin }: ServiceProcess, urls: readonly string[], timeoutMs: number, key = 'any') {
  const response = await fetch(`${origin}/batch?concurrency=${AT_ONCE}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson', 'X-API-Key': key },
    body: urls.map((url) => JSON.stringify({ url, timeoutMs })).join('\n'),
  });
  const lines = (await response.text()).trim().split('\n');
  if (lines.length < urls.length) throw new Error(`capstan answered ${response.status} with ${lines.length} lines`);
  return lines;
}

/** Spreads the few evenly among the many. */
function interleaved(few: readonly string[], many: readonly string[]): readonly string[] {
  const each = Math.ceil(many.length / few.length);
  return few.flatMap((one, at) => [one, ...many.slice(at * each, (at + 1) * each)]);
}
