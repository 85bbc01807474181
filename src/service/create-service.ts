import { randomUUID } from 'node:crypto';
import { firstValueFrom } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError } from '../capture/errors.ts';
import { wantedInFlight } from '../capture/in-flight.ts';
import type { SharedEventLog } from '../cluster/open-cluster.ts';
import { type Config, ConfigError } from '../config/mod.ts';
import { createTargetPolicy } from '../egress/address-policy.ts';
import { createEgress } from '../egress/create-egress.ts';
import { createDnsLookup } from '../egress/dns-lookup.ts';
import type { Egress } from '../egress/egress.ts';
import { eventBody } from '../feed/event-body.ts';
import { openEventFeed } from '../feed/event-feed.ts';
import { createComparisons } from '../imaging/comparisons.ts';
import { createThumbnails } from '../imaging/thumbnails.ts';
import type { Logger } from '../log/log.ts';
import { LoadHistory } from '../metrics/load-history.ts';
import { tallyEvents } from '../metrics/tallies.ts';
import { descriptorLimit, dialsWithin } from '../pressure/descriptors.ts';
import { createCapturePipeline } from '../streams/capture-pipeline.ts';
import { createDialStage } from '../streams/dial-stage.ts';
import { createEventStream } from '../streams/events.ts';
import { createWatches } from '../watches/watches.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { createIntake } from './capture-intake.ts';
import type { CaptureService } from './capture-service.ts';
import { startCapturing } from './capturing.ts';
import { CLUSTER_AWAY, createWorkerOf, logRecovered, openClusterOf } from './cluster-member.ts';
import { watchCondition } from './condition.ts';
import { dialTarget, isDialled } from './dial-target.ts';
import { liveLimits } from './limits.ts';
import { logEvent } from './log-event.ts';
import { createMarking } from './marking.ts';
import { openShared } from './open-shared.ts';
import { openStorage } from './open-storage.ts';
import { ownCaptures } from './own-captures.ts';
import { performCapture } from './perform-capture.ts';
import { countProcess } from './process-stats.ts';
import type { ServiceConfig } from './service-config.ts';
import { storedCaptures } from './stored-captures.ts';
import { suggestLabels } from './suggest-labels.ts';

/*
 * The composition root: the only file that knows every part. A capture passes them in this order:
 *
 *   capture-intake.ts    screening, callbacks, earlier captures, waiting for the end of an outage
 *   streams/             admission, queue, slots, deadlines; every step emits an event
 *   perform-capture.ts   egress (is the target allowed), actors (the browser), storage
 *
 * Tallies, the log, the feed of subscribers and webhooks observe the events.
 */

export type { CaptureService } from './capture-service.ts';

/**
 * Time from a capture's deadline until the api node gives up waiting for its worker, in milliseconds. Longer than the
 * worker's grace period, so that the worker's report comes first.
 */
const CLUSTER_GRACE_MS = 10_000;

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
  const lookup = createDnsLookup({ servers: config.nameServers });
  const receiverPolicy = createTargetPolicy({ allow: config.allowWebhooks, deny: config.denyTargets });
  const receiverEgress = createEgress({
    lookup,
    policy: receiverPolicy,
    openedWith: '--allow-webhooks',
  });
  checkReceivers(config, receiverEgress);
  const cluster = await openClusterOf(config, logger);
  const events = createEventStream();
  const tallies = tallyEvents(events.events$);
  events.events$.subscribe((event) => logEvent(logger, event));

  const opened = Promise.withResolvers<SharedEventLog>();
  const storage = await openStorage(config, logger, {
    logsEvents: cluster === undefined,
    ...(cluster && { onRecovered: async (record) => logRecovered(await opened.promise, record) }),
  });
  const sharedLog = cluster?.openEventLog(storage.eventOutbox);
  if (sharedLog !== undefined) opened.resolve(sharedLog);
  const eventLog = sharedLog ?? storage.events;
  const feed = openEventFeed(events.events$, eventLog, Date.now);
  if (cluster === undefined) await feed.started;
  const capturing = await startCapturing(config, { lookup, events, storage, logger });
  const { egress, actors, started } = capturing;
  const webhooks = createWebhooks({
    receivers: config.webhook,
    secrets: config.webhookSecret,
    egress: receiverEgress,
    conclusions$: events.conclusions$,
    emit: events.emit,
    bodyOf: eventBody,
    ids: () => `msg_${randomUUID()}`,
    clock: Date.now,
  });
  const clusterApi = cluster?.createApi({
    evidenceOf: async (id) => (await storage.results.get(id))?.evidence ?? null,
    inFlight: () => pipeline.inFlight(),
    onLimits: ({ maxConcurrent, maxQueue }) => {
      pipeline.setLimits({ maxConcurrent, maxQueue });
      logger.info({ max_concurrent: maxConcurrent, max_queue: maxQueue }, 'the limits of the cluster are in force');
    },
  });
  const dialStage = createDialStage(dialsWithin(descriptorLimit(), config.maxDials));
  // Without a browser, captures wait for one, and their targets should not notice.
  const dials = (command: Pick<CaptureCommand, 'request' | 'batch'>): boolean =>
    dialStage.limit > 0 && capturing.availability.available && isDialled(command);
  const pipeline = createCapturePipeline({
    limits: clusterApi?.limits ?? { maxConcurrent: config.maxConcurrent, maxQueue: config.maxQueue },
    perform: clusterApi?.perform ?? ((command) => performCapture(command, capturing)),
    ids: () => storage.ids.next(),
    events,
    report: (error, { id }) => logger.error({ capture_id: id, err: error }, 'a capture failed'),
    dialling:
      clusterApi === undefined
        ? { stage: dialStage, applies: dials, dial: (command) => dialTarget(command, capturing) }
        : {
            stage: dialStage,
            // A single capture has a place in the queue: its worker dials in the slot.
            applies: (command) => command.batch !== null && isDialled(command) && clusterApi.areDialsAvailable,
            dial: clusterApi.dial,
          },
    ...(clusterApi && { turns: clusterApi.turns, maxWaitMs: config.maxWaitMs, graceMs: CLUSTER_GRACE_MS }),
  });
  const worker =
    cluster !== undefined && sharedLog !== undefined && config.role === 'all'
      ? createWorkerOf(cluster, config.maxConcurrent, {
          ...capturing,
          results: storage.results,
          eventLog: sharedLog,
          dials,
          maxDials: () => (capturing.availability.available ? dialStage.limit : 0),
        })
      : undefined;
  const stopping = new AbortController();
  const { maxBatchConcurrency } = config;
  const common = { pipeline, egress, webhooks, storage, events, logger };
  const captures = storedCaptures({ store: storage.captureStore, cluster, logger });
  const remove = (id: number) => captures.removeHere([id]);
  const intake = createIntake({ ...common, maxBatchConcurrency, stopping: stopping.signal, remove });
  const limits = liveLimits({ pipeline, actors, clusterApi, worker, logger });
  const comparisons = createComparisons(storage.artifacts);
  let { namedKeys } = config;
  const watches = createWatches({
    store: storage.watches,
    enabled: storage.results.kind !== 'none',
    screen: ({ target }) => {
      const refusal = egress.screenLiteral(target.parsed);
      if (refusal !== null) throw new CapstanError(refusal.code, refusal.reason);
    },
    // Without named keys (`capstan mcp`), every watch is served.
    serves: ({ apiKeyName }) =>
      apiKeyName === null ||
      namedKeys.length === 0 ||
      namedKeys.some(({ name, scope }) => name === apiKeyName && scope !== 'read'),
    capture: (request, by) => firstValueFrom(intake.submit(request, by)),
    remove: captures.removeHere,
    announce: (event, callback) => (event.type === 'watch.run' ? events.emit(event) : events.conclude(event, callback)),
    artifacts: storage.artifacts,
    comparisons,
    atOnce: () => pipeline.limits.maxConcurrent,
    ids: () => storage.ids.next(),
    clock: Date.now,
    report: (error) => logger.error({ err: error }, 'a watch failed'),
  });
  const processStats = countProcess({ config, counts: tallies.counts, capturing, storage, eventLog, log });
  const queueStats = () => ({
    running: pipeline.load.running,
    queued: pipeline.load.queued,
    max_concurrent: pipeline.limits.maxConcurrent,
    max_queue: pipeline.limits.maxQueue,
  });
  const history = new LoadHistory({
    events$: events.events$,
    stats: () => ({ ...processStats(), queue: queueStats() }),
    clock: Date.now,
  });
  const condition = watchCondition(config, {
    availability: () => (cluster?.isUp === false ? CLUSTER_AWAY : capturing.availability),
    storage,
    pipeline,
    cluster: () => cluster?.stats() ?? null,
    setOverload: (overload) => {
      pipeline.setOverload(overload);
      worker?.setOverload(overload?.maxInside ?? null);
    },
    onPressure: (pressure) => history.note(pressure),
    active: () => pipeline.load.inside + (worker?.running ?? 0),
    events,
    stopping: stopping.signal,
  });
  cluster?.start();

  const stop = async (graceMs: number): Promise<void> => {
    const until = performance.now() + graceMs;
    stopping.abort();
    const backgroundStopped = Promise.all([intake.jobs.stop(), watches.stop()]);
    // The only worker of a cluster still runs its own node's captures. Otherwise the queue is left to other workers.
    const isOnlyWorker = cluster?.stats().workers === 1;
    const workerStopped = isOnlyWorker ? undefined : worker?.stop(graceMs);
    await pipeline.drain(graceMs);
    await (workerStopped ?? worker?.stop(Math.max(0, until - performance.now())));
    await backgroundStopped;
    await webhooks.drain(Math.max(0, until - performance.now()));
    webhooks.stop();
    condition.stop();
    await actors.close();
    await Promise.all([egress.close(), receiverEgress.close()]);
    events.complete();
    await feed.close();
    await cluster?.close();
    await storage.close();
  };
  let stopped: Promise<void> | undefined;

  const suggest = suggestLabels(storage.labels, storage.results, events.events$, (error) =>
    logger.debug({ err: error }, 'labels were not noted'),
  );
  const service: CaptureService = {
    submit: intake.submit,
    submitBatch: intake.submitBatch,
    admitCallback: intake.admitCallback,
    jobs: intake.jobs,
    watches,
    queries: storage.queries,
    suggestLabels: (text, limit) => suggest(text, limit),
    sharedLinks: storage.sharedLinks,
    shared: (id) => openShared(service, id, Date.now()),
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
    mark: createMarking({ captureStore: storage.captureStore, emit: events.emit, clock: Date.now }),
    setLimits: limits.set,
    reload: (live) => {
      capturing.targets.replace({ allow: live.allowTargets, deny: live.denyTargets });
      receiverPolicy.replace({ allow: live.allowWebhooks, deny: live.denyTargets });
      webhooks.setSecrets(live.webhookSecret);
      namedKeys = live.namedKeys;
      dialStage.setLimit(dialsWithin(descriptorLimit(), live.maxDials));
      limits.reload(live);
    },
    stats: () => ({
      ...processStats(),
      jobs: intake.jobs.counts,
      webhooks: { ...tallies.counts.webhooks, pending: webhooks.pending },
      queue: queueStats(),
      dials: { max: dialStage.limit, ...egress.dials },
      egress: { captures: egress.refusals, webhooks: receiverEgress.refusals },
      cluster: cluster?.stats() ?? null,
    }),
    loadAfter: (after) => history.after(after),
    started,
    announceStop: condition.announceStop,
    kill: () => actors.kill(),
    stop: (graceMs = 0) => {
      if (stopped === undefined) stopped = stop(graceMs);
      // A second call can shorten the grace period.
      else void pipeline.drain(graceMs).then(() => webhooks.drain(graceMs));
      return stopped;
    },
    onlyOf: (key) => ownCaptures(service, key, suggest),
  };
  return service;
}

/** @throws ConfigError when receivers would never receive a notification. */
function checkReceivers(
  { webhook, webhookSecret }: Pick<Config, 'webhook' | 'webhookSecret'>,
  egress: Pick<Egress, 'screenLiteral'>,
): void {
  if (webhook.length > 0 && webhookSecret.length === 0) {
    throw new ConfigError('--webhook needs --webhook-secret: deliveries are signed');
  }
  for (const receiver of webhook) {
    const refusal = egress.screenLiteral(new URL(receiver));
    if (refusal !== null) throw new ConfigError(`--webhook is not allowed: ${refusal.reason}`);
  }
}
