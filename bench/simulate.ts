import { readMeasured } from './cluster/measured.ts';
import { CLIENTS_PER_WORKER } from './cluster/scaling.ts';
import type { ClusterModel } from './simulate/cluster-model.ts';
import { limitsOfOneCluster } from './simulate/limits.ts';
import { simulateCluster } from './simulate/simulate-cluster.ts';
import type { BenchOptions } from './support/bench.ts';
import { type Finding, formatTable } from './support/table.ts';

const SEED = 20_260_101;
/** Largest difference between simulated and measured throughput. */
const TOLERANCE = 0.1;

const CAPTURES_A_DAY = 1e9;
const DAY_SECONDS = 86_400;
/** The rate of the busiest hour, relative to the mean rate of the day. */
const PEAK_FACTOR = 2;
/** A worker: 4 cores with the default number of slots. */
const CORES = 4;
const SLOTS = 16;
/** Share of an api node's or a stream's time that captures may take. */
const MAX_BUSY = 0.7;
/** Pulls that one consumer keeps: a stream may have as many free slots. */
const MAX_PULLS = 8_192;
const MAX_WAIT_P99_SECONDS = 1;
const HOURLY_DEATHS = 0.01;
/** Shares of busy slots to try. */
const BUSY_SLOTS = [0.995, 0.99, 0.98, 0.97, 0.95, 0.9, 0.8];
const MAX_CONCURRENT = 100_000;
const MAX_QUEUE = 100_000;

/** Times of one capture in seconds, derived from the measured figures. */
type Costs = Pick<ClusterModel, 'apiSeconds' | 'streamSeconds' | 'turnaroundSeconds' | 'serviceSeconds'> & {
  readonly meanServiceSeconds: number;
  readonly cpuSeconds: number;
};

/**
 * Computes clusters that do not fit on one machine, in virtual time, from the figures of `npm run bench -- cluster --save`:
 * first those that were measured, as a check, then 1e9 captures a day.
 */
export async function simulate({ print, report, rounds }: BenchOptions): Promise<readonly Finding[]> {
  const measured = readMeasured();
  const { date, machine } = measured;
  report(
    `measured on ${date}: ${machine.cores} cores, ${machine.processor}, Node ${machine.node}, NATS ${machine.nats}`,
  );
  const costs = costsOf(measured);

  const checks = Object.entries(measured.perSecond).map(([workers, rate]): Finding => {
    const { perSecond } = simulateCluster({
      ...costs,
      seed: SEED,
      load: { clients: CLIENTS_PER_WORKER * Number(workers) },
      apiNodes: 1,
      streams: 1,
      workers: Number(workers),
      slots: 1,
      maxConcurrent: 1000,
      maxQueue: 1000,
      warmUpSeconds: 60,
      seconds: 3600,
    });
    const ratio = perSecond / rate;
    return {
      what: `simulated captures/s of ${workers} one-slot workers, of the measured ${rate.toFixed(3)}`,
      figure: ratio.toFixed(3),
      target: `${1 - TOLERANCE} to ${1 + TOLERANCE}`,
      met: Math.abs(ratio - 1) <= TOLERANCE,
    };
  });

  print(
    formatTable(
      ['limit of one cluster', 'captures/s', `a day, peak ${PEAK_FACTOR} times the mean`],
      limitsOfOneCluster(costs, MAX_BUSY).map(({ what, perSecond }) => [
        what,
        perSecond.toFixed(0),
        `${((perSecond * DAY_SECONDS) / PEAK_FACTOR / 1e6).toFixed(0)} million`,
      ]),
    ),
  );
  return [...checks, ...largeCluster(costs, { print, report, seconds: rounds * 100 })];
}

function costsOf({ aloneMs, addedMs, turnaroundMs, busyCpuMs, captureCpuMs }: ReturnType<typeof readMeasured>): Costs {
  // The time at the worker: that of a capture without a queue, less what the way through NATS adds.
  const service = aloneMs.map((ms) => (ms - addedMs.p50) / 1000);
  return {
    apiSeconds: busyCpuMs.api / 1000,
    streamSeconds: busyCpuMs.nats / 1000,
    turnaroundSeconds: turnaroundMs / 1000,
    serviceSeconds: (random) => service[Math.floor(random() * service.length)] ?? 0,
    meanServiceSeconds: service.reduce((sum, seconds) => sum + seconds, 0) / service.length,
    cpuSeconds: captureCpuMs / 1000,
  };
}

/** Sizes a cluster for the busiest hour of 1e9 captures a day, and simulates `seconds` of that hour. */
function largeCluster(
  costs: Costs,
  { print, report, seconds }: Pick<BenchOptions, 'print' | 'report'> & { readonly seconds: number },
): readonly Finding[] {
  const perSecond = (CAPTURES_A_DAY / DAY_SECONDS) * PEAK_FACTOR;
  const busySlots = perSecond * (costs.meanServiceSeconds + costs.turnaroundSeconds);
  const apiNodes = Math.ceil((perSecond * costs.apiSeconds) / MAX_BUSY);
  const modelFor = (busy: number): Omit<ClusterModel, 'seconds'> => {
    const slots = busySlots / busy;
    const streams = Math.max(Math.ceil((perSecond * costs.streamSeconds) / MAX_BUSY), Math.ceil(slots / MAX_PULLS));
    return {
      ...costs,
      seed: SEED,
      load: { perSecond },
      apiNodes,
      streams,
      // As many for each stream.
      workers: Math.ceil(slots / SLOTS / streams) * streams,
      slots: SLOTS,
      maxConcurrent: MAX_CONCURRENT,
      maxQueue: MAX_QUEUE,
      hourlyDeaths: HOURLY_DEATHS,
      warmUpSeconds: 10,
    };
  };
  const busy = BUSY_SLOTS.find((share) => {
    const p99 = simulateCluster({ ...modelFor(share), seconds: 60 }).wait.quantile(0.99);
    report(`slots busy ${share}: p99 of the wait ${(p99 * 1000).toFixed(1)} ms in a minute`);
    return p99 <= MAX_WAIT_P99_SECONDS;
  });
  const model = modelFor(busy ?? 0.8);
  const { workers, streams } = model;
  const result = simulateCluster({ ...model, seconds });
  // Pages of the real world differ more than the measured ones.
  const varied = simulateCluster({
    ...model,
    serviceSeconds: (random) => -Math.log(1 - random()) * costs.meanServiceSeconds,
    seconds: 60,
  });
  const { wait, killed, restarted, refused, arrived, ended, open } = result;
  const milliseconds = (share: number) => `${(wait.quantile(share) * 1000).toFixed(1)} ms`;
  const busyCores = (perSecond * costs.cpuSeconds) / (workers * CORES);
  print(
    formatTable(
      [`${CAPTURES_A_DAY.toExponential()} captures a day, ${seconds} s of the busiest hour`, ''],
      [
        ['captures/s', result.perSecond.toFixed(0)],
        [`workers with ${CORES} cores and ${SLOTS} slots`, String(workers)],
        ['slots busy', `${((busySlots / workers / SLOTS) * 100).toFixed(1)} %`],
        ["workers' cores busy", `${(busyCores * 100).toFixed(0)} %`],
        [`api nodes, at most ${MAX_BUSY * 100} % of a core each`, String(apiNodes)],
        ['streams', String(streams)],
        ['captures in flight in a stream, at most', String(result.mostInFlight)],
        ['queue wait p50, p99, max', [milliseconds(0.5), milliseconds(0.99), `${wait.max.toFixed(1)} s`].join(', ')],
        ['queue wait p99, exponentially distributed times', `${(varied.wait.quantile(0.99) * 1000).toFixed(1)} ms`],
        ['workers killed, captures restarted', `${killed}, ${restarted}`],
      ],
    ),
  );
  return [
    {
      what: `queue wait p99 at ${perSecond.toFixed(0)} captures/s, ${workers} workers, 1 % killed an hour`,
      figure: milliseconds(0.99),
      target: `<= ${MAX_WAIT_P99_SECONDS} s`,
      met: wait.quantile(0.99) <= MAX_WAIT_P99_SECONDS,
    },
    {
      what: 'captures lost or refused there',
      figure: `${arrived - ended - refused - open}, ${refused}`,
      target: '0, 0',
      met: refused === 0 && arrived === ended + refused + open,
    },
  ];
}
