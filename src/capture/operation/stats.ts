import { z } from 'zod';
import { ARTIFACT_KINDS, DATABASES, forKinds } from '../artifacts/artifacts.ts';
import type { Immutable } from '../basics/immutable.ts';
import { count } from '../basics/values.ts';
import { DialStatsSchema } from './dial-stats.ts';
import { EgressRefusalsSchema } from './egress-refusals.ts';

/** The cluster that a process is part of, by the announcements that its processes send once a second. */
export const ClusterStatsSchema = z
  .strictObject({
    role: z.enum(['all', 'api', 'worker']).meta({ description: 'Role of this process.' }),
    connected: z.boolean().meta({ description: 'Whether this process can reach NATS.' }),
    nodes: count.meta({ description: 'Processes that answer clients.' }),
    workers: count.meta({ description: 'Processes that capture.' }),
    slots: count.meta({ description: 'Captures that all workers together can run at once.' }),
    outbox: count.meta({ description: 'Captures that wait on workers for the database.' }),
    running: count.meta({ description: 'Captures that workers have started.' }),
    waiting: count.meta({ description: 'Captures that wait for a worker.' }),
    bad_messages: count.meta({
      description: 'Messages that this process has dropped since the start, because they cannot be read.',
    }),
  })
  .nullable()
  .meta({ description: 'Figures of the whole cluster, at most a second old; null without `--nats-url`.' });

export type ClusterStats = NonNullable<Immutable<z.output<typeof ClusterStatsSchema>>>;

/** Counters since the start and the state of every part: `GET /stats`. */
export const ServiceStatsSchema = z.strictObject({
  uptime_ms: z.number().nonnegative(),
  captures: z
    .strictObject({
      accepted: count,
      stored: count,
      failed: count,
      timed_out: count,
      cancelled: count,
      rejected: count.meta({ description: 'Admitted, then refused when their turn came.' }),
      refused: count.meta({ description: 'Not admitted.' }),
      reused: count.meta({ description: 'Answered with an earlier capture, without being admitted.' }),
      inside: count.meta({ description: 'Queued or running now.' }),
    })
    .meta({ description: 'Since the start, by how they ended.' }),
  batches: z.strictObject({ accepted: count, completed: count }),
  jobs: z
    .strictObject({ added: count, completed: count, failed: count, cancelled: count, running: count })
    .meta({ description: 'Jobs of this process: added, ended and cancelled since the start, and running now.' }),
  messages: z
    .strictObject({
      delivered: count,
      failed: count,
      dropped: count.meta({ description: 'Failed messages for which the queue had no room.' }),
      pending: count.meta({ description: 'Waiting or being delivered now.' }),
    })
    .meta({ description: 'Messages to receivers since the start.' }),
  queue: z.strictObject({ running: count, queued: count, max_concurrent: count, max_queue: count }),
  pool: z.strictObject({
    busy: count,
    idle: count,
    browsers: z.array(z.strictObject({ pid: count, captures: count, retiring: z.boolean() })),
    launches: count,
    crashes: count,
  }),
  store: z.strictObject({
    kind: z.enum(['none', ...DATABASES]),
    state: z.enum(['off', 'up', 'down', 'damaged']),
    outbox: count.meta({ description: 'Captures that wait on disk for the database or the artifact store.' }),
    written: z
      .strictObject(forKinds(ARTIFACT_KINDS, () => count))
      .meta({ description: 'Bytes of the files stored since the start.' }),
    bytes: count.nullable().meta({
      description: 'Bytes of all files of captures, with `--retain-bytes` and once they are counted; else null.',
    }),
    disk: z
      .strictObject({ free: count, size: count })
      .nullable()
      .meta({ description: 'Bytes of the file system of `--data-dir`; null while they are not known.' }),
    events_unwritten: count.meta({ description: 'Events that wait to be written to the event log.' }),
  }),
  dials: DialStatsSchema,
  egress: z
    .strictObject({ captures: EgressRefusalsSchema, webhooks: EgressRefusalsSchema })
    .meta({ description: 'Connections that were refused since the start, by reason.' }),
  retention: z
    .strictObject({
      screenshots: count,
      records: count,
      bytes_freed: count,
      postponed: count.meta({
        description: 'Captures that are too old, and left by the last pass because it removed as many as it may.',
      }),
      held_bytes: count.meta({ description: 'Bytes above `--retain-bytes` that are kept by holds.' }),
    })
    .nullable()
    .meta({ description: 'Removed because of `--retain-days` and `--retain-bytes` since the start; null without.' }),
  ip_info: z.strictObject({ known: count, missing: count }).nullable().meta({
    description: 'Addresses that were looked up successfully, and lookups that failed; null without `--ipinfo`.',
  }),
  cluster: ClusterStatsSchema,
  log: z
    .strictObject({ dropped: count })
    .meta({ description: 'Log lines that were dropped since the start, because they could not be written.' }),
});

export type ServiceStats = Immutable<z.output<typeof ServiceStatsSchema>>;
