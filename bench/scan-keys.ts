import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchOptions } from './support/bench.ts';
import { startDeadTargets } from './support/dead-targets.ts';
import { startServiceOn } from './support/service-on.ts';
import { startBenchSite } from './support/site.ts';
import { startSlowRelay } from './support/slow-relay.ts';
import { median } from './support/statistics.ts';
import { atMost, type Finding, formatTable } from './support/table.ts';

/*
 * Two keys: one captures a page again and again, the other sends a list of dead targets. In each round the pages are
 * captured alone, then beside the list. Also of a page behind a round trip of 100 ms.
 */

const KEYS = { list: 'list-key', pages: 'pages-key' };
const DEAD_TARGETS = 3_000;
const TIMEOUT_MS = 10_000;
/** Time after which the list dials as many targets as it may. */
const BEGUN_MS = 1_000;
const PAGES_A_ROUND = 12;
const PAGE_TIMEOUT_MS = 60_000;
const ROUND_TRIP_MS = 100;
const MAX_SHARE = 1.2;

export async function scanKeys(options: BenchOptions): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  const [page = ''] = site.urls(1);
  const { port, pathname } = new URL(page);
  await using relay = await startSlowRelay(Number(port), ROUND_TRIP_MS);
  await using dead = await startDeadTargets(DEAD_TARGETS);
  const pages = { 'a page': page, [`a page ${ROUND_TRIP_MS} ms away`]: `http://127.0.0.1:${relay.port}${pathname}` };
  try {
    const found: Finding[] = [];
    for (const where of options.on) found.push(...(await keysOn(where, pages, dead.urls, options)));
    return found;
  } finally {
    await site.stop();
  }
}

async function keysOn(
  where: string,
  pages: Readonly<Record<string, string>>,
  dead: readonly string[],
  { browserPath, rounds, print, report }: BenchOptions,
): Promise<readonly Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-keys-'));
  const keyFile = join(folder, 'keys');
  const lines = Object.entries(KEYS).map(([name, key]) => `${name}:${key}:100000\n`);
  await writeFile(keyFile, lines.join(''), { mode: 0o600 });
  const { service, stop } = await startServiceOn(where, {
    browserPath,
    args: [
      ...['--max-batch', '100000', '--allow-targets', '127.0.0.0/8'],
      ...['--isolate-keys', '--api-key-file', keyFile],
    ],
  });

  const capture = async (url: string): Promise<number> => {
    const began = performance.now();
    const answer = await fetch(`${service.origin}/screenshot`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': KEYS.pages },
      body: JSON.stringify({ url, timeoutMs: PAGE_TIMEOUT_MS }),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}`);
    return performance.now() - began;
  };
  const captures = async (url: string, times: number[]): Promise<void> => {
    for (let n = 0; n < PAGES_A_ROUND; n += 1) times.push(await capture(url));
  };
  /** Runs the dead list while `work` runs. */
  const besideList = async (work: () => Promise<void>): Promise<void> => {
    const client = new AbortController();
    const list = fetch(`${service.origin}/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson', 'X-API-Key': KEYS.list },
      body: dead.map((url) => JSON.stringify({ url, timeoutMs: TIMEOUT_MS })).join('\n'),
      signal: client.signal,
    }).then((answer) => answer.text());
    list.catch(() => undefined);
    await delay(BEGUN_MS);
    await work();
    const isOver = await Promise.race([list.then(() => true), Promise.resolve(false)]);
    if (isOver) throw new Error('the list had ended before the pages were captured');
    client.abort();
  };

  const times = Object.entries(pages).map(([name, url]) => ({
    name,
    url,
    alone: [] as number[],
    beside: [] as number[],
  }));
  try {
    for (const { url } of times) await captures(url, []);
    for (let round = 1; round <= rounds; round += 1) {
      for (const { url, alone } of times) await captures(url, alone);
      await besideList(async () => {
        for (const { url, beside } of times) await captures(url, beside);
      });
      report(`scan-keys on ${where}: round ${round} of ${rounds}`);
    }
  } finally {
    await stop();
    await rm(folder, { recursive: true, force: true });
  }
  const shown = (of: readonly number[]) => median(of).toFixed(0);
  const rows = times.map(({ name, alone, beside }) => [name, shown(alone), shown(beside)]);
  print(formatTable([`on ${where}`, 'alone, p50 ms', 'beside a dead list of another key, p50 ms'], rows));
  return times.map(({ name, alone, beside }) => {
    const share = median(beside) / median(alone);
    const what = `${name} on ${where}, beside a dead list of another key, of its time alone`;
    return atMost(what, share, MAX_SHARE);
  });
}
