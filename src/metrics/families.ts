import type { Pressure } from '../capture/operation/pressure.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import { packageVersion } from '../version.ts';
import type { DurationHistogram } from './duration-histogram.ts';
import { type FamilyOptions, histogramSamples, type Sample } from './family.ts';
import type { Tallies } from './tallies.ts';

/** Sources of the values. Each function is called once for each scrape. */
export interface MetricsSource {
  readonly stats: () => ServiceStats;
  readonly pressure: () => Pressure;
  /** Whether captures can be made; and whether stored ones can be read, undefined for a worker. */
  readonly isReady: () => { readonly captures: boolean; readonly reads?: boolean };
  /** Number of subscribers to live events. */
  readonly subscribers: () => number;
  readonly tallies: Tallies;
}

/** The values of one scrape. */
type Reading = { readonly [K in Exclude<keyof MetricsSource, 'tallies'>]: ReturnType<MetricsSource[K]> };

/**
 * Returns every metric family of the service. `refresh` reads the values for the next scrape at once, so that all
 * families show the same moment.
 */
export function metricFamilies(source: MetricsSource): {
  readonly families: readonly FamilyOptions[];
  readonly refresh: () => void;
} {
  const { tallies } = source;
  const take = (): Reading => ({
    stats: source.stats(),
    pressure: source.pressure(),
    isReady: source.isReady(),
    subscribers: source.subscribers(),
  });
  let reading: Reading | undefined;
  const current = (): Reading => {
    reading ??= take();
    return reading;
  };
  const counter = (name: string, help: string, read: (stats: ServiceStats) => readonly Sample[]): FamilyOptions => ({
    name,
    type: 'counter',
    help,
    read: () => read(current().stats),
  });
  const gauge = (name: string, help: string, read: (reading: Reading) => readonly Sample[]): FamilyOptions => ({
    name,
    type: 'gauge',
    help,
    read: () => read(current()),
  });
  const histogram = (name: string, help: string, read: () => readonly Sample[]): FamilyOptions => ({
    name,
    type: 'histogram',
    help,
    read,
  });

  const families = [
    gauge('capstan_build_info', 'Version of the service and of Node.js; always 1.', () => [
      { labels: { version: packageVersion(), node_version: process.version }, value: 1 },
    ]),
    gauge('capstan_ready', 'Whether captures can be made (1 or 0), as GET /readyz reports.', ({ isReady }) =>
      one(Number(isReady.captures)),
    ),
    gauge(
      'capstan_readable',
      'Whether stored captures can be read (1 or 0), as GET /readyz/reads reports; not of workers.',
      ({ isReady: { reads } }) => (reads === undefined ? [] : one(Number(reads))),
    ),
    gauge('capstan_accepting', 'Whether a new capture is admitted now (1 or 0).', ({ pressure }) =>
      one(Number(pressure.accepting)),
    ),

    counter('capstan_captures_accepted_total', 'Captures that were admitted.', ({ captures }) =>
      one(captures.accepted),
    ),
    counter('capstan_captures_total', 'Admitted captures that have ended, by outcome.', ({ captures }) => {
      const { stored, failed, timed_out, cancelled, rejected } = captures;
      return each('outcome', { stored, failed, timed_out, cancelled, rejected });
    }),
    counter('capstan_captures_reused_total', 'Requests that were answered with an earlier capture.', ({ captures }) =>
      one(captures.reused),
    ),
    counter('capstan_capture_failures_total', 'Captures that failed or timed out, by error code.', () =>
      each('code', tallies.failures),
    ),
    counter('capstan_capture_verdicts_total', 'Stored captures, by verdict on the page.', () =>
      each('verdict', tallies.verdicts),
    ),
    counter('capstan_capture_rejections_total', 'Captures that were refused, admitted or not, by error code.', () =>
      each('reason', {
        queue_full: 0,
        target_forbidden: 0,
        shutting_down: 0,
        ...Object.fromEntries(tallies.rejections),
      }),
    ),
    counter('capstan_batches_accepted_total', 'Batches that were admitted.', ({ batches }) => one(batches.accepted)),
    counter('capstan_batches_completed_total', 'Batches that have ended.', ({ batches }) => one(batches.completed)),

    gauge('capstan_queue_length', 'Captures that wait for a slot.', ({ stats }) => one(stats.queue.queued)),
    gauge('capstan_queue_limit', 'Maximum number of waiting captures.', ({ stats }) => one(stats.queue.max_queue)),
    gauge('capstan_captures_running', 'Captures that have a slot.', ({ stats }) => one(stats.queue.running)),
    gauge('capstan_captures_running_limit', 'Maximum number of running captures.', ({ stats }) =>
      one(stats.queue.max_concurrent),
    ),
    histogram('capstan_queue_wait_seconds', 'Time from admission to the slot.', () =>
      histogramSamples(tallies.queueWait),
    ),
    histogram('capstan_capture_duration_seconds', 'Time from the slot to the record, by outcome.', () =>
      eachHistogram('outcome', tallies.captures),
    ),
    histogram('capstan_capture_phase_duration_seconds', 'Time in each phase of captures that have a record.', () =>
      eachHistogram('phase', tallies.phases),
    ),

    gauge('capstan_browsers', 'Browser processes, by state.', ({ stats: { pool } }) => {
      const retiring = pool.browsers.filter((browser) => browser.retiring).length;
      return each('state', { serving: pool.browsers.length - retiring, retiring });
    }),
    counter('capstan_browser_launches_total', 'Browser processes that were started.', ({ pool }) => one(pool.launches)),
    counter('capstan_browser_ends_total', 'Browser processes that ended, by cause.', () =>
      each('cause', { captures: 0, memory: 0, hang: 0, crash: 0, ...Object.fromEntries(tallies.browserEnds) }),
    ),

    gauge('capstan_database_state', 'State of the database: 1 for the current one.', ({ stats: { store } }) =>
      store.kind === 'none'
        ? []
        : ['up', 'down', 'damaged'].map((state) => ({
            labels: { kind: store.kind, state },
            value: Number(store.state === state),
          })),
    ),
    gauge('capstan_outbox_records', 'Captures on disk that wait for the database or the artifact store.', ({ stats }) =>
      one(stats.store.outbox),
    ),
    gauge(
      'capstan_data_disk_free_bytes',
      'Free bytes of the file system of --data-dir, at the scrape before.',
      ({ stats: { store } }) => (store.disk === null ? [] : one(store.disk.free)),
    ),
    gauge('capstan_data_disk_size_bytes', 'Size of the file system of --data-dir.', ({ stats: { store } }) =>
      store.disk === null ? [] : one(store.disk.size),
    ),
    counter('capstan_artifact_written_bytes_total', 'Bytes of stored files, by kind.', ({ store }) =>
      each('kind', store.written),
    ),
    gauge(
      'capstan_artifact_bytes',
      'Bytes of all files of captures; only with --retain-bytes.',
      ({ stats: { store } }) => (store.bytes === null ? [] : one(store.bytes)),
    ),
    counter('capstan_retention_removed_captures_total', 'Captures that retention removed.', ({ retention }) =>
      retention === null ? [] : each('kind', { screenshot: retention.screenshots, record: retention.records }),
    ),
    counter('capstan_retention_freed_bytes_total', 'Bytes that retention freed.', ({ retention }) =>
      retention === null ? [] : one(retention.bytes_freed),
    ),
    gauge(
      'capstan_retention_postponed_captures',
      'Captures that are too old, and left by the last pass of retention.',
      ({ stats: { retention } }) => (retention === null ? [] : one(retention.postponed)),
    ),
    gauge(
      'capstan_retention_held_bytes',
      'Bytes above --retain-bytes that are kept by holds.',
      ({ stats: { retention } }) => (retention === null ? [] : one(retention.held_bytes)),
    ),

    gauge(
      'capstan_dials_running',
      'Targets that are looked up or connected to before their captures wait.',
      ({ stats }) => one(stats.dials.dialling),
    ),
    gauge('capstan_dials_limit', 'Maximum number of such targets at once.', ({ stats }) => one(stats.dials.max)),
    counter(
      'capstan_dials_total',
      'Targets that were dialled, by whether they were reached, or why not.',
      ({ dials }) => each('outcome', { reached: dials.reached, ...dials.dead }),
    ),

    counter('capstan_egress_refusals_total', 'Connections that the egress policy refused, by reason.', ({ egress }) => [
      ...each('reason', egress.captures, { traffic: 'captures' }),
      ...each('reason', egress.webhooks, { traffic: 'webhooks' }),
    ]),

    counter('capstan_messages_total', 'Messages to receivers, by how they ended.', ({ messages }) =>
      each('outcome', { delivered: messages.delivered, failed: messages.failed }),
    ),
    counter('capstan_message_failures_total', 'Messages that were given up, by cause.', () =>
      each('cause', { refused: 0, unreachable: 0, dropped: 0, ...Object.fromEntries(tallies.messageFailures) }),
    ),
    gauge('capstan_messages_pending', 'Messages that wait or are being delivered.', ({ stats }) =>
      one(stats.messages.pending),
    ),
    histogram('capstan_message_delivery_seconds', 'Time from the end of a capture or batch to the delivery.', () =>
      histogramSamples(tallies.messages),
    ),

    counter('capstan_events_total', 'Events, by type.', () => each('type', tallies.events)),
    gauge('capstan_events_unwritten', 'Events that wait to be written to the event log.', ({ stats: { store } }) =>
      one(store.events_unwritten),
    ),
    gauge('capstan_event_subscribers', 'Subscribers to GET /events.', ({ subscribers }) => one(subscribers)),

    counter('capstan_jobs_added_total', 'Jobs that clients gave to this process.', ({ jobs }) => one(jobs.added)),
    counter('capstan_jobs_ended_total', 'Jobs that ended in this process, by state.', ({ jobs }) => {
      const { completed, failed, cancelled } = jobs;
      return each('state', { completed, failed, cancelled });
    }),
    gauge('capstan_jobs_running', 'Jobs that run in this process.', ({ stats }) => one(stats.jobs.running)),

    gauge('capstan_cluster_connected', 'Whether this process reaches NATS (1 or 0); only in a cluster.', ({ stats }) =>
      stats.cluster === null ? [] : one(Number(stats.cluster.connected)),
    ),
    gauge('capstan_cluster_processes', 'Processes of the whole cluster, by role.', ({ stats: { cluster } }) =>
      cluster === null ? [] : each('role', { api: cluster.nodes, worker: cluster.workers }),
    ),
    gauge('capstan_cluster_slots', 'Captures that all workers together can run at once.', ({ stats: { cluster } }) =>
      cluster === null ? [] : one(cluster.slots),
    ),
    gauge('capstan_cluster_captures', 'Captures in the whole cluster, by state.', ({ stats: { cluster } }) =>
      cluster === null ? [] : each('state', { running: cluster.running, waiting: cluster.waiting }),
    ),

    counter('capstan_ip_lookups_total', 'Lookups of IP information, by outcome.', ({ ip_info: ip }) =>
      ip === null ? [] : each('outcome', { known: ip.known, missing: ip.missing }),
    ),
    gauge('capstan_machine_cpu_used_ratio', 'Share of all processors in use over the last second.', ({ pressure }) =>
      one(pressure.cpu / 100),
    ),
    gauge(
      'capstan_machine_memory_used_ratio',
      'Share of the memory of the machine or control group.',
      ({ pressure }) => (pressure.memory === null ? [] : one(pressure.memory / 100)),
    ),
    gauge('capstan_event_loop_delay_seconds', 'p99 of the event loop delay over the last second.', ({ pressure }) =>
      one(pressure.eventLoopDelayMs / 1000),
    ),
    counter('capstan_log_lines_dropped_total', 'Log lines that could not be written.', ({ log }) => one(log.dropped)),
  ];
  return {
    families,
    refresh: () => {
      reading = take();
    },
  };
}

function one(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function each(
  label: string,
  values: ReadonlyMap<string, number> | Readonly<Record<string, number>>,
  shared: Readonly<Record<string, string>> = {},
): readonly Sample[] {
  const entries = values instanceof Map ? [...values] : Object.entries(values);
  return entries.map(([name, value]) => ({ labels: { ...shared, [label]: name }, value }));
}

function eachHistogram(label: string, histograms: ReadonlyMap<string, DurationHistogram>): readonly Sample[] {
  return [...histograms].flatMap(([name, histogram]) => histogramSamples(histogram, { [label]: name }));
}
