import { wantedInFlight } from '../capture/operation/in-flight.ts';
import type { LiveConfig, ServiceConfig } from '../config/slices.ts';
import { createComparisons } from '../imaging/comparisons.ts';
import { createThumbnails } from '../imaging/thumbnails.ts';
import type { Logger } from '../log/log.ts';
import type { CaptureService } from './capture-service.ts';
import { CLUSTER_AWAY, openClusterOf } from './capturing/cluster-member.ts';
import { connectPipeline } from './capturing/connect-pipeline.ts';
import { startCapturing } from './capturing/start-capturing.ts';
import { createIntake } from './intake/capture-intake.ts';
import { openProcess } from './open-process.ts';
import { watchCondition } from './operation/condition.ts';
import { liveLimits } from './operation/limits.ts';
import { countService } from './operation/service-stats.ts';
import { openReceiverEgress, openReceivers } from './receivers/open-receivers.ts';
import { startWatches } from './service-watches.ts';
import { stopInOrder } from './stop-service.ts';
import { createMarking } from './stored/marking.ts';
import { openRecords } from './stored/open-records.ts';
import { openShared, stillShared } from './stored/open-shared.ts';
import { ownCaptures } from './stored/own-captures.ts';
import { storedCaptures } from './stored/stored-captures.ts';
import { suggestLabels } from './stored/suggest-labels.ts';

/*
 * The composition root. A capture passes the parts in this order:
 *
 *   intake/      screening, callbacks, earlier captures, waiting for the end of an outage
 *   capturing/   connect-pipeline.ts: streams/ admits, queues and times captures; every step emits an event.
 *                perform-capture.ts: egress (is the target allowed), actors (the browser), storage
 *   stored/      the records, their marks, shared links, and what an isolated key sees of them
 *   receivers/   receivers and what they are told
 *   operation/   readiness, load, limits, statistics, the log
 *
 * These observe the events: tallies and the log (open-process.ts), the feed of subscribers (stored/), from whose
 * log receivers are told, suggested labels, and the load of the last hour (operation/service-stats.ts).
 */

export type { CaptureService } from './capture-service.ts';

/**
 * Creates and connects all parts, and starts them. The start does not fail when the database is unavailable or no
 * browser can be started: requests that need them are refused until then. Resolves before the first browser has
 * started; see `started`.
 * @throws ConfigError when webhook receivers are configured that would never receive a notification.
 */
export async function createService(
  config: ServiceConfig,
  logger: Logger,
  log: { readonly droppedLines: number } = { droppedLines: 0 },
): Promise<CaptureService> {
  let live: LiveConfig = config;
  const { tallies, ...base } = openProcess(config, logger);
  const { events } = base;
  const toReceivers = openReceiverEgress(config, base.lookup);
  const cluster = await openClusterOf(config, logger);
  const { storage, eventLog, sharedLog, feed } = await openRecords(config, { cluster, events, logger });
  const comparisons = createComparisons(storage.artifacts, storage.staging, {
    onProblem: (reason) => logger.warn({ reason }, 'large images are in memory'),
  });
  const namedKeys = () => live.namedKeys;
  const opened = { ...base, storage, feed, comparisons, cluster, namedKeys };
  const receivers = openReceivers(config, { ...opened, toReceivers });
  const capturing = await startCapturing(config, opened);
  const connected = connectPipeline(config, { ...opened, capturing, sharedLog });
  const { pipeline, clusterApi, worker } = connected;
  const captures = storedCaptures(opened);
  const { removeHere } = captures;
  const parts = { ...opened, capturing, pipeline, clusterApi, worker, receivers, removeHere };

  const intake = createIntake(config, parts);
  const { submit, jobs } = intake;
  const watches = startWatches(parts, submit);
  const suggest = suggestLabels(storage.labels, storage.results, events.events$, (error) =>
    logger.debug({ err: error }, 'labels were not noted'),
  );

  const limits = liveLimits(parts);
  const counted = countService({
    ...parts,
    jobs,
    config,
    counts: tallies.counts,
    eventLog,
    log,
    maxDials: () => connected.maxDials,
  });
  const condition = watchCondition(config, {
    whyUnavailable: () => (cluster?.isUp === false ? CLUSTER_AWAY : capturing.unavailable),
    storage,
    pipeline,
    cluster: () => cluster?.stats() ?? null,
    setOverload: (overload) => {
      pipeline.setOverload(overload);
      worker?.setOverload(overload?.maxTaken ?? null);
    },
    onPressure: (pressure) => counted.history.note(pressure),
    active: () => pipeline.load.taken + (worker?.running ?? 0),
    events,
    stopping: base.stopping.signal,
  });
  cluster?.start();

  const service: CaptureService = {
    submit,
    submitBatch: intake.submitBatch,
    admitCallback: intake.admitCallback,
    jobs,
    watches,
    queries: storage.queries,
    receivers: receivers.managed,
    suggestLabels: (text, limit) => suggest(text, limit),
    sharedLinks: storage.sharedLinks,
    shared: (id, sightOf) => openShared(service, sightOf, id),
    stillShared: (links, sightOf) => stillShared(service, sightOf, links),
    events$: events.events$,
    feed,
    tallies,
    takesCallbacks: config.webhookSecret.length > 0,
    refuseUnread: () => pipeline.refuseUnread(),
    inFlight: async (wanted) =>
      clusterApi?.inFlight(wanted) ?? { captures: wantedInFlight(pipeline.inFlight(), wanted), missing: '' },
    results: storage.results,
    idempotency: storage.idempotency,
    artifacts: storage.artifacts,
    thumbnails: createThumbnails(storage.artifacts, storage.thumbnails),
    comparisons,
    get readiness() {
      return condition.readiness;
    },
    get reads() {
      return condition.reads;
    },
    pressure: condition.pressure,
    whyMissing: captures.whyMissing,
    remove: captures.remove,
    mark: createMarking({ storage, events }),
    setLimits: limits.set,
    reload: (next) => {
      live = next;
      capturing.targets.replace({ allow: next.allowTargets, deny: next.denyTargets });
      receivers.reload(next);
      connected.setMaxDials(next.maxDials);
      limits.reload(next);
    },
    stats: counted.stats,
    loadAfter: (after) => counted.history.after(after),
    started: capturing.started,
    announceStop: condition.announceStop,
    kill: () => capturing.actors.kill(),
    stop: stopInOrder(parts, { jobs, watches, condition }),
    onlyOf: (key) => ownCaptures(service, key, suggest),
  };
  return service;
}
