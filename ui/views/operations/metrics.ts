import { call } from '../../api/client.ts';
import { subscribe } from '../../api/events.ts';
import type { CapstanEvent, Pressure, ServiceStats } from '../../api/types.ts';

/** Interval of the samples, in milliseconds. */
const SAMPLE_MS = 2000;
/** Number of samples kept: half an hour. */
const MAX_SAMPLES = 900;
/** Time for which durations are kept, in milliseconds. */
const WINDOW_MS = 60_000;
/** Maximum number of durations kept, which bounds the memory on a busy service. */
const MAX_DURATIONS = 20_000;

/** Columns of the charts; an unknown value is null. */
export interface Series {
  /** Seconds since 1970. */
  readonly time: number[];
  readonly columns: Readonly<Record<ColumnName, (number | null)[]>>;
}

const COLUMNS = [
  'stored',
  'failed',
  'timedOut',
  'refused',
  'queued',
  'running',
  'limit',
  'waitP50',
  'waitP95',
  'waitP99',
  'latencyP50',
  'latencyP95',
  'latencyP99',
  'memory',
  'cpu',
  'loopDelay',
  'browsers',
] as const;
export type ColumnName = (typeof COLUMNS)[number];

export interface Sample {
  readonly series: Series;
  readonly stats: ServiceStats;
  readonly pressure: Pressure;
}

interface Batch {
  readonly id: string;
  readonly size: number;
  readonly done: number;
  readonly failed: number;
  readonly isCompleted: boolean;
}

export interface Metrics {
  /** Batches that were seen since the view was opened, newest first. */
  readonly batches: readonly Batch[];
  stop(): void;
}

/** Reads `/stats` and `/pressure` every two seconds, and durations from the events, until it is stopped. */
export function watchMetrics(onSample: (sample: Sample) => void, onError: (error: unknown) => void): Metrics {
  const series: Series = { time: [], columns: emptyColumns() };
  const waits = slidingWindow();
  const latencies = slidingWindow();
  const batches = new Map<string, Batch>();
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last: { readonly at: number; readonly stats: ServiceStats } | undefined;

  const unsubscribe = subscribe((event) => {
    if (event.type === 'capture.started') waits.add(event.waited_ms);
    if (event.type === 'capture.stored') latencies.add(event.result.duration_ms);
    noteBatch(batches, event);
  });

  const sample = async () => {
    const { signal } = abort;
    try {
      const [{ data: stats }, { data: pressure }] = await Promise.all([
        call<ServiceStats>('/stats', { signal }),
        call<Pressure>('/pressure', { signal }),
      ]);
      const at = performance.now();
      append(series, { ...ratesOf(stats, at, last), ...levelsOf(stats, pressure), ...percentilesOf(waits, latencies) });
      last = { at, stats };
      onSample({ series, stats, pressure });
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    if (!signal.aborted) timer = setTimeout(() => void sample(), SAMPLE_MS);
  };
  void sample();

  return {
    get batches() {
      return [...batches.values()].reverse();
    },
    stop() {
      abort.abort();
      clearTimeout(timer);
      unsubscribe();
    },
  };
}

function emptyColumns(): Series['columns'] {
  const entries = COLUMNS.map((name) => [name, []] as const);
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

function append({ time, columns }: Series, values: Readonly<Record<ColumnName, number | null>>): void {
  time.push(Date.now() / 1000);
  for (const name of COLUMNS) columns[name].push(values[name]);
  if (time.length <= MAX_SAMPLES) return;
  time.shift();
  for (const name of COLUMNS) columns[name].shift();
}

/** Returns captures per second since the previous sample. */
function ratesOf({ captures }: ServiceStats, at: number, last: { at: number; stats: ServiceStats } | undefined) {
  const rate = (count: (of: ServiceStats['captures']) => number) => {
    if (last === undefined) return null;
    const seconds = (at - last.at) / 1000;
    return Math.max(0, count(captures) - count(last.stats.captures)) / seconds;
  };
  return {
    stored: rate(({ stored }) => stored),
    failed: rate(({ failed }) => failed),
    timedOut: rate(({ timed_out: timedOut }) => timedOut),
    refused: rate(({ refused, rejected }) => refused + rejected),
  };
}

function levelsOf({ queue, pool }: ServiceStats, { memory, cpu, eventLoopDelayMs }: Pressure) {
  return {
    queued: queue.queued,
    running: queue.running,
    limit: queue.max_concurrent,
    memory,
    cpu,
    loopDelay: eventLoopDelayMs,
    browsers: pool.browsers.length,
  };
}

function percentilesOf(waits: SlidingWindow, latencies: SlidingWindow) {
  const [waitP50, waitP95, waitP99] = waits.percentiles();
  const [latencyP50, latencyP95, latencyP99] = latencies.percentiles();
  return { waitP50, waitP95, waitP99, latencyP50, latencyP95, latencyP99 };
}

interface SlidingWindow {
  add(ms: number): void;
  /** 50th, 95th and 99th percentile of the last minute; null without a value. */
  percentiles(): readonly [number | null, number | null, number | null];
}

function slidingWindow(): SlidingWindow {
  let entries: (readonly [at: number, ms: number])[] = [];
  return {
    add: (ms) => void entries.push([performance.now(), ms]),
    percentiles() {
      const from = performance.now() - WINDOW_MS;
      entries = entries.filter(([at]) => at >= from).slice(-MAX_DURATIONS);
      const sorted = entries.map(([, ms]) => ms).sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
      return [at(0.5), at(0.95), at(0.99)];
    },
  };
}

const MAX_BATCHES = 20;

function noteBatch(batches: Map<string, Batch>, event: CapstanEvent): void {
  if (event.type !== 'batch.accepted' && event.type !== 'batch.progress' && event.type !== 'batch.completed') return;
  const { batch: id, size } = event;
  const { done, failed } = 'done' in event ? event : { done: 0, failed: 0 };
  batches.set(id, { id, size, done, failed, isCompleted: event.type === 'batch.completed' });
  const [oldest] = batches.keys();
  if (batches.size > MAX_BATCHES && oldest !== undefined) batches.delete(oldest);
}
