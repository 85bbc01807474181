import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceStats } from '../../api/types.ts';
import { CopyAsCurl } from '../../parts/copy-as-curl.tsx';
import { bytes, duration, integer } from '../../parts/format.ts';
import { Problem, View } from '../../parts/view.tsx';
import { Chart, type Line } from './chart.tsx';
import { Limits } from './limits.tsx';
import { type ColumnName, type Metrics, type Sample, watchMetrics } from './metrics.ts';
import { Work } from './work.tsx';

const perSecond = (value: number) => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
const whole = (value: number) => integer(Math.round(value));
const percent = (value: number) => `${Math.round(value)} %`;

const percentiles = (p50: ColumnName, p95: ColumnName, p99: ColumnName): readonly Line[] => [
  { column: p50, label: 'p50', colour: '--series-4' },
  { column: p95, label: 'p95', colour: '--series-3' },
  { column: p99, label: 'p99', colour: '--series-2' },
];

const CHARTS: readonly {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
}[] = [
  {
    title: 'Captures a second',
    format: perSecond,
    lines: [
      { column: 'stored', label: 'stored', colour: '--series-4' },
      { column: 'failed', label: 'failed', colour: '--series-2' },
      { column: 'timedOut', label: 'timed out', colour: '--series-3' },
      { column: 'refused', label: 'refused', colour: '--series-1', isDashed: true },
    ],
  },
  {
    title: 'Running',
    format: whole,
    lines: [
      { column: 'running', label: 'running', colour: '--series-1' },
      { column: 'limit', label: 'limit', colour: '--series-2', isDashed: true },
    ],
  },
  { title: 'Queue', format: whole, lines: [{ column: 'queued', label: 'waiting', colour: '--series-3' }] },
  { title: 'Wait, last minute', format: duration, lines: percentiles('waitP50', 'waitP95', 'waitP99') },
  { title: 'Capture, last minute', format: duration, lines: percentiles('latencyP50', 'latencyP95', 'latencyP99') },
  {
    title: 'Machine',
    format: percent,
    lines: [
      { column: 'cpu', label: 'processors', colour: '--series-1' },
      { column: 'memory', label: 'memory', colour: '--series-3' },
    ],
  },
  { title: 'Event loop delay', format: duration, lines: [{ column: 'loopDelay', label: 'p99', colour: '--series-1' }] },
  { title: 'Browsers', format: whole, lines: [{ column: 'browsers', label: 'processes', colour: '--series-4' }] },
];

export function Operations() {
  const [{ sample, revision }, setSample] = useState<{ sample?: Sample; revision: number }>({ revision: 0 });
  const [error, setError] = useState<unknown>();
  const metrics = useRef<Metrics | undefined>(undefined);
  useEffect(() => {
    const watched = watchMetrics((taken) => {
      setError(undefined);
      setSample((old) => ({ sample: taken, revision: old.revision + 1 }));
    }, setError);
    metrics.current = watched;
    return () => watched.stop();
  }, []);
  return (
    <View title="Operations" class="operations" actions={<CopyAsCurl requests={() => REQUESTS} />}>
      <div class="view-body">
        {error !== undefined && <Problem error={error} />}
        {sample !== undefined && (
          <>
            <Tiles sample={sample} />
            {!sample.pressure.accepting && (
              <p class="notice warn" role="status">
                No captures are admitted: {sample.pressure.reason}
              </p>
            )}
            <div class="charts">
              {CHARTS.map((chart) => (
                <Chart key={chart.title} {...chart} series={sample.series} revision={revision} />
              ))}
              <Limits queue={sample.stats.queue} />
            </div>
            <Work batches={metrics.current?.batches ?? []} revision={revision} />
          </>
        )}
      </div>
    </View>
  );
}

const REQUESTS = [
  { path: '/stats' },
  { path: '/pressure' },
  { path: '/events?type=capture.*,batch.*', stream: true },
  { path: '/limits', method: 'PATCH', body: { maxConcurrent: 8, maxQueue: 1000 } },
  { path: '/captures' },
  { path: '/jobs' },
];

/** Totals since the start of the service. */
function Tiles({ sample: { stats } }: { readonly sample: Sample }) {
  const { captures, dials, store, pool, messages, uptime_ms: uptime } = stats;
  const tiles: readonly (readonly [name: string, value: string])[] = [
    ['Up for', duration(uptime)],
    ['Stored', integer(captures.stored)],
    ['Failed', integer(captures.failed + captures.timed_out)],
    ['Refused', integer(captures.refused + captures.rejected)],
    ...(dials.max === 0 ? [] : dialTiles(dials)),
    ['Database', `${store.kind}, ${store.state}`],
    ['Outbox', integer(store.outbox)],
    ...(store.bytes === null ? [] : [['Files', bytes(store.bytes)] as const]),
    ['Crashes', integer(pool.crashes)],
    ['Messages', integer(messages.pending)],
  ];
  return (
    <dl class="tiles">
      {tiles.map(([name, value]) => (
        <div key={name} class="panel">
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Targets that were dialled before their captures waited for a slot; those that were not reached by reason. */
function dialTiles({ max, dialling, reached, dead }: ServiceStats['dials']): readonly (readonly [string, string])[] {
  const reasons = Object.entries(dead).filter(([, count]) => count > 0);
  return [
    ['Dialling', `${integer(dialling)} of ${integer(max)}`],
    ['Reached', integer(reached)],
    ...reasons.map(([reason, count]) => [`Dead: ${reason.replace('_', ' ')}`, integer(count)] as const),
  ];
}
