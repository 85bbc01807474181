import { describe, expect, it } from 'vitest';
import type { ClusterModel } from '../../bench/simulate/cluster-model.ts';
import { EventQueue } from '../../bench/simulate/event-queue.ts';
import { Histogram } from '../../bench/simulate/histogram.ts';
import { simulateCluster } from '../../bench/simulate/simulate-cluster.ts';
import { createRandom } from '../faults/random.ts';

/** A cluster whose parts take no time, except the captures: 1 s each. */
const PLAIN: ClusterModel = {
  seed: 1,
  load: { perSecond: 4 },
  apiNodes: 1,
  apiSeconds: 0,
  streams: 1,
  streamSeconds: 0,
  workers: 8,
  slots: 1,
  turnaroundSeconds: 0,
  serviceSeconds: () => 1,
  maxConcurrent: 1000,
  maxQueue: 1000,
  warmUpSeconds: 100,
  seconds: 10_000,
};

const exponential = (random: () => number) => -Math.log(1 - random());

/** Share of arrivals that wait in a queue with `servers` servers, of which `load` are busy on average (Erlang C). */
function waitingShare(servers: number, load: number): number {
  let blocked = 1;
  for (let count = 1; count <= servers; count += 1) blocked = (load * blocked) / (count + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}

describe('a simulated cluster', () => {
  it.each([
    { workers: 8, slots: 1, streams: 1 },
    { workers: 2, slots: 4, streams: 1 },
    { workers: 16, slots: 1, streams: 2 },
  ])('has the waiting times of an M/M/c queue: $workers workers, $slots slots, $streams streams', (shape) => {
    const servers = (shape.workers * shape.slots) / shape.streams;
    const load = servers * 0.9;
    const { wait, perSecond } = simulateCluster({
      ...PLAIN,
      ...shape,
      load: { perSecond: load * shape.streams },
      serviceSeconds: exponential,
      seconds: 60_000,
    });
    // Every second arrival at a stream comes later than a random one would: the limit allows for that.
    const p99 = Math.log(waitingShare(servers, load) / 0.01) / (servers - load);
    expect(wait.quantile(0.99) / p99).toBeGreaterThan(shape.streams === 1 ? 0.93 : 0.6);
    expect(wait.quantile(0.99) / p99).toBeLessThan(1.07);
    expect(perSecond / (load * shape.streams)).toBeCloseTo(1, 1);
  });

  it.each([
    ['api node', { apiSeconds: 0.2 }],
    ['stream', { streamSeconds: 0.2 }],
  ])('delays captures while its only %s is busy', (_, busy) => {
    const { wait } = simulateCluster({ ...PLAIN, ...busy, workers: 100, load: { perSecond: 3 } });
    // Busy for 0.6 of the time: as many captures wait.
    expect(wait.quantile(0.37)).toBeCloseTo(0.2, 2);
    expect(wait.quantile(0.43)).toBeGreaterThan(0.21);
  });

  it.each([1, 2, 4])('keeps %i slots busy with two clients for each', (workers) => {
    const { perSecond } = simulateCluster({
      ...PLAIN,
      workers,
      load: { clients: 2 * workers },
      turnaroundSeconds: 0.25,
    });
    expect(perSecond).toBeCloseTo(workers / 1.25, 1);
  });

  it('runs at most as many captures at the same time as the limit of the stream', () => {
    const { perSecond, mostInFlight } = simulateCluster({ ...PLAIN, maxConcurrent: 3, load: { clients: 20 } });
    expect(perSecond).toBeCloseTo(3, 1);
    expect(mostInFlight).toBe(3);
  });

  it('refuses captures when as many are queued or running as the limits allow', () => {
    const { refused, perSecond, wait } = simulateCluster({
      ...PLAIN,
      load: { perSecond: 16 },
      maxConcurrent: 8,
      maxQueue: 8,
    });
    expect(perSecond).toBeCloseTo(8, 1);
    expect(refused / 16 / 10_000).toBeCloseTo(0.5, 1);
    expect(wait.max).toBeLessThan(1.1);
  });

  it('starts the captures of a killed worker again 7 to 10 s later, and loses none', () => {
    const clients = 6;
    const killing = { ...PLAIN, load: { clients }, hourlyDeaths: 20 };
    const { killed, restarted, open, arrived, ended, perSecond, wait } = simulateCluster(killing);
    expect(killed).toBeGreaterThan(100);
    expect(restarted).toBeGreaterThan(100);
    // A lost capture would end its client's work.
    expect(open).toBe(clients);
    expect(arrived).toBe(ended + clients);
    expect(perSecond).toBeGreaterThan(4);
    expect(wait.max).toBeGreaterThan(7);
  });

  it('gives the same figures with the same seed', () => {
    const figures = (seed: number) => {
      const { wait, ...rest } = simulateCluster({ ...PLAIN, seed, hourlyDeaths: 1, serviceSeconds: exponential });
      return { ...rest, p99: wait.quantile(0.99) };
    };
    expect(figures(7)).toEqual(figures(7));
    expect(figures(7)).not.toEqual(figures(8));
  });
});

describe('an event queue', () => {
  it('gives events out in the order of their times, with their numbers', () => {
    const random = createRandom(3);
    const events = new EventQueue();
    const times = Array.from({ length: 5_000 }, () => random.next());
    for (const [at, time] of times.entries()) events.add(time, at % 7, at, at + 1);
    const seen: number[] = [];
    while (events.next()) {
      expect({ kind: events.kind, mark: events.mark }).toEqual({ kind: events.subject % 7, mark: events.subject + 1 });
      expect(times[events.subject]).toBe(events.at);
      seen.push(events.at);
    }
    expect(seen).toEqual(times.toSorted((a, b) => a - b));
  });
});

describe('a histogram', () => {
  it('knows quantiles to 1 %', () => {
    const histogram = new Histogram();
    for (let value = 1; value <= 10_000; value += 1) histogram.add(value / 1000);
    for (const share of [0.01, 0.5, 0.99, 1]) {
      expect(histogram.quantile(share) / (share * 10)).toBeGreaterThan(0.99);
      expect(histogram.quantile(share) / (share * 10)).toBeLessThan(1.011);
    }
  });

  it('counts zeros', () => {
    const histogram = new Histogram();
    histogram.add(0);
    histogram.add(0);
    histogram.add(5);
    expect(histogram.quantile(0.5)).toBe(0);
    expect(histogram.max).toBe(5);
  });
});
