import { setTimeout as delay } from 'node:timers/promises';
import { MAX_LOOKUPS_AT_ONCE } from '../src/egress/lookup-queue.ts';
import { type SilentImages, startSilentImages } from '../test/egress/silent-images.ts';
import type { BenchOptions } from './support/bench.ts';
import { type ServiceProcess, startServiceProcess } from './support/service-process.ts';
import { median } from './support/statistics.ts';
import { type Finding, formatTable } from './support/table.ts';

const MAX_RATIO = 1.5;
/** Captures, one after another, alone and again beside the hostile page, in each round. */
const CAPTURES = 8;
/** Longer than a round. */
const HOSTILE_TIMEOUT_MS = 60_000;

/** Compares the time of captures beside a page with 400 images on names that are never answered with the time alone. */
export async function dnsStarvation({ browserPath, rounds, print, report }: BenchOptions): Promise<readonly Finding[]> {
  await using hostile = await startSilentImages();
  const service = await startServiceProcess({ browserPath, flags: ['--name-servers', hostile.nameServer.address] });
  try {
    await captureTimes(service, hostile, 'warm-up');
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      alone.push(median(await captureTimes(service, hostile, `alone-${round}`)));
      beside.push(await besideHostile(service, hostile, round));
      report(`round ${round + 1}: alone ${ms(alone[round])} ms, beside ${ms(beside[round])} ms`);
    }
    const ratio = median(beside.map((time, round) => time / (alone[round] ?? Number.NaN)));
    print(
      formatTable(
        [`median of ${rounds} rounds of ${CAPTURES} captures, one after another`, 'ms'],
        [
          ['alone', ms(median(alone))],
          [`beside a page that waits for ${MAX_LOOKUPS_AT_ONCE} of 400 names`, ms(median(beside))],
        ],
      ),
    );
    return [
      {
        what: 'time of captures beside a page whose 400 names are never answered, relative to alone',
        figure: ratio.toFixed(2),
        target: `<= ${MAX_RATIO}`,
        met: ratio <= MAX_RATIO,
      },
    ];
  } finally {
    await service.stop();
  }
}

/** Resolves with the median time of captures while the hostile page is captured. */
async function besideHostile(service: ServiceProcess, hostile: SilentImages, round: number): Promise<number> {
  const leave = new AbortController();
  const asked = hostile.nameServer.asked.length;
  const options = { timeoutMs: HOSTILE_TIMEOUT_MS };
  const ended = service.capture(hostile.hostileUrl, options, leave.signal).then(
    ({ status }) => status,
    () => 'left',
  );
  while (new Set(hostile.nameServer.asked.slice(asked)).size < MAX_LOOKUPS_AT_ONCE) await delay(10);
  const times = await captureTimes(service, hostile, `beside-${round}`);
  leave.abort();
  const how = await ended;
  if (how !== 'left') throw new Error(`the hostile capture ended with ${how} before the captures beside it`);
  return median(times);
}

/** Resolves with the times of captures of pages, each on a name that has not been looked up before. */
async function captureTimes(service: ServiceProcess, hostile: SilentImages, name: string): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < CAPTURES; at += 1) {
    const answer = await service.capture(hostile.goodUrl(`${name}-${at}`));
    if (answer.status !== 200) throw new Error(`a capture was answered ${answer.status}: ${answer.body}`);
    times.push(answer.ms);
  }
  return times;
}

function ms(time = Number.NaN): string {
  return time.toFixed(0);
}
