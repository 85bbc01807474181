import { HISTORY_MS } from '../../../src/capture/operation/history-times.ts';
import { call } from '../../api/client.ts';
import { subscribe } from '../../api/events.ts';
import type { CapstanEvent, LoadSample, Pressure, ServiceStats } from '../../api/types.ts';

/** Interval at which the service is asked, in milliseconds. */
const ASK_MS = 2000;

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

/** Reads `/stats`, `/pressure` and the newest samples of the load every two seconds, until it is stopped. */
export function watchMetrics(onSample: (sample: Sample) => void, onError: (error: unknown) => void): Metrics {
  const series: Series = { time: [], columns: emptyColumns() };
  const batches = new Map<string, Batch>();
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: string | undefined;

  const unsubscribe = subscribe((event) => event.type !== 'gap' && noteBatch(batches, event));

  const sample = async () => {
    const { signal } = abort;
    try {
      const after = newest === undefined ? '' : `?after=${newest}`;
      const [{ data: stats }, { data: pressure }, { data: load }] = await Promise.all([
        call<ServiceStats>('/stats', { signal }),
        call<Pressure>('/pressure', { signal }),
        call<readonly LoadSample[]>(`/stats/history${after}`, { signal }),
      ]);
      for (const one of load) append(series, one);
      newest = load.at(-1)?.at ?? newest;
      onSample({ series, stats, pressure });
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    if (!signal.aborted) timer = setTimeout(() => void sample(), ASK_MS);
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

/** Appends a sample, and removes those that are older than the service keeps. */
function append({ time, columns }: Series, sample: LoadSample): void {
  const at = Date.parse(sample.at) / 1000;
  time.push(at);
  const values = valuesOf(sample);
  for (const name of COLUMNS) columns[name].push(values[name]);
  const kept = time.findIndex((second) => second > at - HISTORY_MS / 1000);
  for (const column of [time, ...Object.values(columns)]) column.splice(0, kept);
}

function valuesOf(sample: LoadSample): Readonly<Record<ColumnName, number | null>> {
  const { wait_ms: wait, duration_ms: duration, interval_ms: interval } = sample;
  const perSecond = (count: number) => (interval > 0 ? (count * 1000) / interval : null);
  return {
    stored: perSecond(sample.stored),
    failed: perSecond(sample.failed),
    timedOut: perSecond(sample.timed_out),
    refused: perSecond(sample.refused),
    queued: sample.queued,
    running: sample.running,
    limit: sample.max_concurrent,
    waitP50: wait?.p50 ?? null,
    waitP95: wait?.p95 ?? null,
    waitP99: wait?.p99 ?? null,
    latencyP50: duration?.p50 ?? null,
    latencyP95: duration?.p95 ?? null,
    latencyP99: duration?.p99 ?? null,
    memory: sample.memory,
    cpu: sample.cpu,
    loopDelay: sample.event_loop_delay_ms,
    browsers: sample.browsers,
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
