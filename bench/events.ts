import { setTimeout as delay } from 'node:timers/promises';
import type { BenchOptions } from './support/bench.ts';
import { watchTree } from './support/process-tree.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { mean, median } from './support/statistics.ts';
import { type Subscribers, startSubscribers } from './support/subscribers.ts';
import { type Finding, formatTable } from './support/table.ts';

const SUBSCRIBERS = 1000;
const CONCURRENCY = 4;
const MIN_RATIO = 0.97;
const MAX_P99_MS = 50;
/** Time limit for the last events, after which they count as lost. */
const LAST_MS = 2000;

/** One subscriber in this many is watched. */
const ONE_IN = 20;

/**
 * Scenes in the order of a round; each round starts with a different one. Comparing the two without subscribers shows
 * the noise of the measurement.
 */
const SCENES = [
  { name: 'none', reading: 0, oneInReads: 1, stalled: 0 },
  { name: 'none again', reading: 0, oneInReads: 1, stalled: 0 },
  { name: 'subscribers', reading: SUBSCRIBERS, oneInReads: ONE_IN, stalled: 0 },
  { name: 'and one that does not read', reading: SUBSCRIBERS, oneInReads: ONE_IN, stalled: 1 },
  { name: 'subscribers on the same cores', reading: SUBSCRIBERS, oneInReads: 1, stalled: 0 },
] as const;
const NONE = ['none', 'none again'] as const satisfies readonly SceneName[];
const NOTHING: Played = {
  perSecond: Number.NaN,
  cpuSecondsPerCapture: Number.NaN,
  delays: [],
  lost: Number.NaN,
  sendingsPerCapture: Number.NaN,
};
type SceneName = (typeof SCENES)[number]['name'];

interface Played {
  readonly perSecond: number;
  /** CPU of the service and its browsers only, so that other work on the machine does not count. */
  readonly cpuSecondsPerCapture: number;
  readonly delays: readonly number[];
  readonly lost: number;
  /** Writes to each subscriber for each capture. */
  readonly sendingsPerCapture: number;
}

/** Measures how much subscribers slow captures down, and how soon they receive an event. */
export async function events({
  browserPath,
  rounds,
  captures,
  print,
  report,
}: BenchOptions): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  const service = await startServiceProcess({ browserPath });
  const subscribers = startSubscribers();
  const played: Record<SceneName, Played>[] = [];
  try {
    await captureAll(service, site.urls(captures));
    for (let round = 0; round < rounds; round += 1) {
      const scenes = new Map<SceneName, Played>();
      for (let turn = 0; turn < SCENES.length; turn += 1) {
        const scene = SCENES[(round + turn) % SCENES.length] ?? SCENES[0];
        const result = await play(scene, service, subscribers, site.urls(captures));
        scenes.set(scene.name, result);
        report(`events, round ${round + 1}: ${scene.name}: ${result.perSecond.toFixed(2)} captures/s`);
      }
      const of = (name: SceneName) => scenes.get(name) ?? NOTHING;
      played.push({
        none: of('none'),
        'none again': of('none again'),
        subscribers: of('subscribers'),
        'and one that does not read': of('and one that does not read'),
        'subscribers on the same cores': of('subscribers on the same cores'),
      });
    }
  } finally {
    await subscribers.stop();
    await service.stop();
    await site.stop();
  }

  print(
    formatTable(
      ['subscribers', 'cap/s', 'of none', 'range', 'CPU s/cap', 'sent/cap', 'p50 ms', 'p99 ms', 'lost'],
      SCENES.map(({ name }) => {
        const ratios = ratiosToNone(played, name);
        const delays = delaysOf(played, name);
        return [
          name,
          median(played.map((round) => round[name].perSecond)).toFixed(2),
          median(ratios).toFixed(3),
          `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
          median(played.map((round) => round[name].cpuSecondsPerCapture)).toFixed(3),
          median(played.map((round) => round[name].sendingsPerCapture)).toFixed(2),
          String(percentileOf(delays, 0.5)),
          String(percentileOf(delays, 0.99)),
          String(played.reduce((sum, round) => sum + round[name].lost, 0)),
        ];
      }),
    ),
  );
  const noise = ratiosToNone(played, 'none again').map((ratio) => Math.abs(ratio - 1));
  return [
    ...findings(played, 'subscribers', `${SUBSCRIBERS} subscribers`, median(noise)),
    ...findings(played, 'and one that does not read', `${SUBSCRIBERS} and one that does not read`, median(noise)),
    ...findings(played, 'subscribers on the same cores', `${SUBSCRIBERS} that read on the same cores`, median(noise)),
  ];
}

function findings(
  played: readonly Record<SceneName, Played>[],
  name: SceneName,
  what: string,
  noise: number,
): readonly Finding[] {
  const ratio = median(ratiosToNone(played, name));
  const cpu = median(
    played.map(
      (round) => mean(NONE.map((none) => round[none].cpuSecondsPerCapture)) / round[name].cpuSecondsPerCapture,
    ),
  );
  const p99 = percentileOf(delaysOf(played, name), 0.99);
  const lost = played.reduce((sum, round) => sum + round[name].lost, 0);
  return [
    {
      what: `captures/s with ${what}, of those with none`,
      figure: `${ratio.toFixed(3)} (two rounds with none differ by ${noise.toFixed(3)})`,
      target: `>= ${MIN_RATIO}`,
      met: ratio >= MIN_RATIO,
    },
    {
      what: `CPU of a capture with none, of that with ${what}`,
      figure: cpu.toFixed(3),
      target: `>= ${MIN_RATIO}`,
      met: cpu >= MIN_RATIO,
    },
    {
      what: `from stored to received with ${what}, p99`,
      figure: `${p99} ms (${lost} lost)`,
      target: `< ${MAX_P99_MS} ms`,
      met: p99 < MAX_P99_MS && lost === 0,
    },
  ];
}

async function play(
  { reading, oneInReads, stalled }: (typeof SCENES)[number],
  service: ServiceProcess,
  subscribers: Subscribers,
  urls: readonly string[],
): Promise<Played> {
  await subscribers.open(service.origin, { reading, oneInReads, stalled });
  const { value: perSecond, cpuSeconds } = await watchTree(service.pid, () => captureAll(service, urls));
  const expected = urls.length * reading;
  const deadline = performance.now() + LAST_MS;
  while ((await subscribers.count()).deliveries < expected && performance.now() < deadline) await delay(50);
  const { delays, deliveries, reads } = await subscribers.close();
  return {
    perSecond,
    cpuSecondsPerCapture: cpuSeconds / urls.length,
    delays,
    lost: expected - deliveries,
    sendingsPerCapture: (reads / urls.length / reading) * oneInReads,
  };
}

async function captureAll(service: ServiceProcess, urls: readonly string[]): Promise<number> {
  const waiting = urls.values();
  const startedAt = performance.now();
  const worker = async () => {
    for (const url of waiting) {
      const { status, body } = await service.capture(url);
      if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return urls.length / ((performance.now() - startedAt) / 1000);
}

/** Ratio to the mean of the two scenes without subscribers; for each of these two, ratio to the other one. */
function ratiosToNone(played: readonly Record<SceneName, Played>[], name: SceneName): readonly number[] {
  return played.map((round) => {
    const bases = NONE.filter((none) => none !== name).map((none) => round[none].perSecond);
    return round[name].perSecond / mean(bases);
  });
}

function delaysOf(played: readonly Record<SceneName, Played>[], name: SceneName): readonly number[] {
  const sums: number[] = [];
  for (const round of played) {
    for (const [ms, count] of round[name].delays.entries()) sums[ms] = (sums[ms] ?? 0) + count;
  }
  return Array.from(sums, (count) => count ?? 0);
}

/** A percentile in milliseconds, from a histogram with one bucket per millisecond. */
function percentileOf(counts: readonly number[], share: number): number {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let sum = 0;
  for (const [ms, count] of counts.entries()) {
    sum += count;
    if (sum >= share * all && all > 0) return ms;
  }
  return Number.NaN;
}
