import { CapstanError } from '../capture/errors.ts';
import { noEgressRefusals } from '../capture/operation/egress-refusals.ts';
import type { Overload } from '../capture/operation/pressure.ts';
import { ConfigError } from '../config/mod.ts';
import type { CapturingConfig, ClusterConfig, StorageConfig } from '../config/slices.ts';
import type { Logger } from '../log/log.ts';
import { descriptorLimit, dialsWithin } from '../pressure/descriptors.ts';
import { captureEnded, captureQueued, captureStarted } from '../streams/events.ts';
import type { CaptureService } from './capture-service.ts';
import { CLUSTER_AWAY, createWorkerOf, openClusterOf } from './capturing/cluster-member.ts';
import { startCapturing } from './capturing/start-capturing.ts';
import { openProcess } from './open-process.ts';
import { watchCondition } from './operation/condition.ts';
import { resizeWorker } from './operation/limits.ts';
import { countProcess } from './operation/service-stats.ts';
import { openSharedRecords } from './stored/open-records.ts';

type WorkerConfig = ClusterConfig & StorageConfig & CapturingConfig;

/** A process that captures for the api nodes of a cluster, and answers no clients. */
export type WorkerService = Pick<
  CaptureService,
  'readiness' | 'stats' | 'pressure' | 'tallies' | 'started' | 'reload' | 'kill' | 'announceStop' | 'stop'
>;

/** Counts of jobs, which only api nodes have. */
const NO_JOBS = { added: 0, completed: 0, failed: 0, cancelled: 0, running: 0 };

/**
 * Creates the parts of a worker and starts them: browsers, egress, stores, and the connection to the work queue. It
 * admits nothing itself: the api nodes own the queue, the events, the jobs and the ids.
 * @throws ConfigError without a cluster.
 */
export async function createWorker(
  config: WorkerConfig,
  logger: Logger,
  log: { readonly droppedLines: number } = { droppedLines: 0 },
): Promise<WorkerService> {
  const cluster = await openClusterOf(config, logger);
  if (cluster === undefined) throw new ConfigError('--role worker needs --nats-url');
  const base = openProcess(config, logger);
  const { events, tallies, stopping } = base;
  const { storage, eventLog } = await openSharedRecords(config, { cluster, logger, makesIds: false });
  const capturing = await startCapturing(config, { ...base, storage });
  const { actors, egress } = capturing;
  let { maxDials } = config;
  const descriptors = descriptorLimit();
  const dialsAtOnce = () => dialsWithin(descriptors, maxDials);
  const worker = createWorkerOf(cluster, config.maxConcurrent, {
    capturing,
    results: storage.results,
    eventLog,
    maxDials: dialsAtOnce,
    onStarted: (command) => {
      events.emit(captureQueued(Date.now(), command));
      events.emit(captureStarted(Date.now(), command, 0));
    },
    onEnded: (command, outcome) => events.emit(captureEnded(Date.now(), command, outcome)),
  });
  let overload: Overload | null = null;
  const condition = watchCondition(config, {
    whyUnavailable: () => (cluster.isUp ? capturing.unavailable : CLUSTER_AWAY),
    storage,
    pipeline: {
      get load() {
        return { running: worker.running, queued: 0, taken: worker.running };
      },
      get limits() {
        return { maxConcurrent: worker.slots, maxQueue: 0 };
      },
      refusal: () => (overload === null ? undefined : new CapstanError('queue_full', overload.reason)),
    },
    cluster: () => cluster.stats(),
    setOverload: (next) => {
      overload = next;
      worker.setOverload(next?.maxTaken ?? null);
      if (next !== null) logger.warn({ reason: next.reason }, 'the worker takes no captures until it is less loaded');
    },
    active: () => worker.running,
    events,
    stopping: stopping.signal,
  });
  cluster.start();

  const stop = async (graceMs: number): Promise<void> => {
    stopping.abort();
    await worker.stop(graceMs);
    condition.stop();
    await eventLog.close();
    await cluster.close();
    await actors.close();
    await egress.close();
    events.complete();
    await storage.close();
  };
  const processStats = countProcess({ config, counts: tallies.counts, capturing, storage, eventLog, log });
  let stopped: Promise<void> | undefined;

  return {
    started: capturing.started,
    get readiness() {
      return condition.readiness;
    },
    pressure: condition.pressure,
    tallies,
    reload: ({ maxConcurrent, maxDials: dials, allowTargets, denyTargets }) => {
      maxDials = dials;
      capturing.targets.replace({ allow: allowTargets, deny: denyTargets });
      resizeWorker({ actors, worker, logger }, maxConcurrent);
    },
    stats: () => ({
      ...processStats(),
      jobs: NO_JOBS,
      messages: { ...tallies.counts.messages, pending: 0 },
      queue: { running: worker.running, queued: 0, max_concurrent: worker.slots, max_queue: 0 },
      dials: { max: dialsAtOnce(), ...egress.dials },
      egress: { captures: egress.refusals, webhooks: noEgressRefusals() },
      cluster: cluster.stats(),
    }),
    announceStop: condition.announceStop,
    kill: () => actors.kill(),
    stop: (graceMs = 0) => {
      if (stopped === undefined) stopped = stop(graceMs);
      // A second call shortens the grace period.
      else void worker.stop(graceMs);
      return stopped;
    },
  };
}
