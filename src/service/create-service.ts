import { randomUUID } from 'node:crypto';
import { createBrowserActor } from '../actors/browser-actor.ts';
import { CapstanError } from '../capture/errors.ts';
import { type Config, ConfigError } from '../config.ts';
import { createTargetPolicy } from '../egress/address-policy.ts';
import { createEgress } from '../egress/create-egress.ts';
import { createDnsLookup } from '../egress/dns-lookup.ts';
import type { Egress } from '../egress/egress.ts';
import { eventBody } from '../feed/event-body.ts';
import { openEventFeed } from '../feed/event-feed.ts';
import { createThumbnails } from '../imaging/thumbnails.ts';
import type { Logger } from '../log.ts';
import { tallyEvents } from '../metrics/tallies.ts';
import { createStorage, type Storage } from '../storage/storage.ts';
import { createCapturePipeline } from '../streams/capture-pipeline.ts';
import { createCounters } from '../streams/counters.ts';
import { createEventStream } from '../streams/events.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { createIntake } from './capture-intake.ts';
import type { CaptureService } from './capture-service.ts';
import { watchCondition } from './condition.ts';
import { warnOfMissingFonts } from './font-warning.ts';
import { createIpFacts } from './ip-facts.ts';
import { logEvent } from './log-event.ts';
import { performCapture } from './perform-capture.ts';

/*
 * The composition root: the only file that knows every part. A capture passes them in this order:
 *
 *   capture-intake.ts    screening, callbacks, earlier captures, waiting for the end of an outage
 *   streams/             admission, queue, slots, deadlines; every step is an event
 *   perform-capture.ts   egress (is the target allowed), actors (the browser), storage
 *
 * Everything else follows the events: counters, the log, the feed of subscribers, webhooks.
 */

export type { BatchElement, CaptureService, Readiness } from './capture-service.ts';

const STARTING = { available: false, reason: 'the first browser is being started', detail: '' } as const;

/** The options that the service needs. The others are the HTTP server's. */
export type ServiceConfig = Pick<
  Config,
  | 'dbPath'
  | 'mongoUrl'
  | 'dataDir'
  | 'retainDays'
  | 'retainBytes'
  | 'thumbnailBytes'
  | 'maxConcurrent'
  | 'maxQueue'
  | 'maxMemoryMb'
  | 'minFreeMemory'
  | 'maxLoopDelayMs'
  | 'allowTargets'
  | 'denyTargets'
  | 'nameServers'
  | 'webhook'
  | 'webhookSecret'
  | 'allowWebhooks'
  | 'browserPath'
  | 'sandbox'
  | 'honestUserAgent'
  | 'retireAfter'
  | 'ipinfo'
  | 'ipinfoUrl'
  | 'ipinfoKey'
  | 'ipinfoRate'
>;

/**
 * Creates and connects all parts, and starts them. The start does not fail when the database is unavailable or no
 * browser can be started: requests that need them are refused until then. Resolves before the first browser has
 * started; see `started`.
 * @throws ConfigError when webhook receivers are configured that would never be sent anything.
 */
export async function createService(
  config: ServiceConfig,
  logger: Logger,
  log: { readonly droppedLines: number } = { droppedLines: 0 },
): Promise<CaptureService> {
  const lookup = createDnsLookup({ servers: config.nameServers });
  const receiverEgress = createEgress({
    lookup,
    policy: createTargetPolicy({ allow: config.allowWebhooks, deny: config.denyTargets }),
    openedWith: '--allow-webhooks',
  });
  checkReceivers(config, receiverEgress);
  const events = createEventStream();
  const counters = createCounters(events.events$);
  const tallies = tallyEvents(events.events$);
  const logging = events.events$.subscribe((event) => logEvent(logger, event));

  const storage = await openStorage(config, logger);
  const feed = await openEventFeed(events.events$, storage.events, Date.now);
  const egress = createEgress({
    lookup,
    policy: createTargetPolicy({ allow: config.allowTargets, deny: config.denyTargets }),
    warn: (text) => logger.warn(text),
  });
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
  const actor = createBrowserActor({
    egress,
    slots: config.maxConcurrent,
    browserPath: config.browserPath ?? undefined,
    sandbox: config.sandbox,
    honestUserAgent: config.honestUserAgent,
    retireAfter: config.retireAfter,
    warn: (text) => logger.warn(text),
  });
  actor.events$.subscribe((event) => events.emit(event));
  let isStarted = false;
  // Not awaited: a browser that hangs while it starts must not delay listening or stopping.
  const started = actor.start().then(
    () => {
      const { availability } = actor;
      if (!availability.available) logger.error({ cause: availability.detail }, 'no browser could be started');
    },
    (error: unknown) => logger.error({ err: error }, 'the profiles of earlier browsers could not be removed'),
  );
  void started.then(() => {
    isStarted = true;
    void warnOfMissingFonts(actor, logger);
  });

  const ipFacts = createIpFacts(config, (error) => logger.warn({ err: error }, 'an address could not be looked up'));
  const pipeline = createCapturePipeline({
    limits: { maxConcurrent: config.maxConcurrent, maxQueue: config.maxQueue },
    perform: (command) =>
      performCapture(command, { egress, actor, ipFacts, captureStore: storage.captureStore, logger }),
    ids: () => storage.ids.next(),
    events,
    report: (error, { id }) => logger.error({ capture_id: id, err: error }, 'a capture failed'),
  });
  const stopping = new AbortController();
  const intake = createIntake({ pipeline, egress, webhooks, storage, events, stopping: stopping.signal, logger });
  const condition = watchCondition(config, {
    availability: () => (isStarted ? actor.availability : STARTING),
    storage,
    pipeline,
    events,
    stopping: stopping.signal,
  });

  const stop = async (graceMs: number): Promise<void> => {
    const until = performance.now() + graceMs;
    stopping.abort();
    const jobsStopped = intake.jobs.stop();
    await pipeline.drain(graceMs);
    await jobsStopped;
    await webhooks.drain(Math.max(0, until - performance.now()));
    webhooks.stop();
    condition.stop();
    await actor.close();
    await Promise.all([egress.close(), receiverEgress.close()]);
    events.complete();
    await feed.close();
    await storage.close();
    counters.stop();
    logging.unsubscribe();
  };
  const startedAt = performance.now();
  let stopped: Promise<void> | undefined;

  return {
    submit: intake.submit,
    submitBatch: intake.submitBatch,
    admitCallback: intake.admitCallback,
    jobs: intake.jobs,
    events$: events.events$,
    feed,
    tallies,
    takesCallbacks: config.webhookSecret.length > 0,
    refuseUnread: () => pipeline.refuseUnread(),
    results: storage.results,
    idempotency: storage.idempotency,
    artifacts: storage.artifacts,
    thumbnails: createThumbnails(storage.artifacts, storage.thumbnails),
    get readiness() {
      return condition.readiness;
    },
    pressure: condition.pressure,
    whyMissing: async (id) => {
      const isElsewhere = await storage.captureStore.isElsewhere(id).catch(() => false);
      return isElsewhere
        ? new CapstanError('artifact_elsewhere')
        : new CapstanError('not_found', `There is no screenshot with the id ${id}.`);
    },
    remove: async (id, by = {}) => {
      if (!(await storage.captureStore.has(id))) return false;
      if (await storage.captureStore.isElsewhere(id)) throw new CapstanError('artifact_elsewhere');
      await storage.captureStore.remove([id]);
      logger.info({ capture_id: id, ...by }, 'a capture was removed');
      return true;
    },
    setLimits: ({ maxConcurrent = pipeline.limits.maxConcurrent, maxQueue = pipeline.limits.maxQueue }, by = {}) => {
      pipeline.setLimits({ maxConcurrent, maxQueue });
      actor.setSlots(maxConcurrent);
      logger.info({ max_concurrent: maxConcurrent, max_queue: maxQueue, ...by }, 'the limits were changed');
      return pipeline.limits;
    },
    stats: () => ({
      uptime_ms: Math.round(performance.now() - startedAt),
      captures: counters.captures,
      batches: counters.batches,
      jobs: intake.jobs.counts,
      webhooks: { ...counters.webhooks, pending: webhooks.pending },
      queue: {
        running: pipeline.load.running,
        queued: pipeline.load.queued,
        max_concurrent: pipeline.limits.maxConcurrent,
        max_queue: pipeline.limits.maxQueue,
      },
      pool: actor.stats(),
      ip_info: ipFacts.counts,
      store: {
        kind: storage.results.kind,
        state: storage.results.state,
        outbox: storage.captureStore.pending,
        written: storage.captureStore.written,
        bytes: storage.artifacts.bytes,
      },
      egress: { captures: egress.refusals, webhooks: receiverEgress.refusals },
      retention: config.retainDays === null && config.retainBytes === null ? null : storage.retention.counts,
      log: { dropped: log.droppedLines },
    }),
    started,
    kill: () => actor.kill(),
    stop: (graceMs = 0) => {
      if (stopped === undefined) stopped = stop(graceMs);
      // A second call can shorten the grace period.
      else void pipeline.drain(graceMs).then(() => webhooks.drain(graceMs));
      return stopped;
    },
  };
}

function openStorage(config: ServiceConfig, logger: Logger): Promise<Storage> {
  return createStorage({
    dataDir: config.dataDir,
    dbPath: config.dbPath,
    mongoUrl: config.mongoUrl,
    onState: (state, reason) => {
      if (state === 'up') logger.info('the database is available');
      else logger.error({ reason }, state === 'damaged' ? 'the database is damaged' : 'the database is unavailable');
    },
    onStoreFailure: (failure) => {
      if (failure === undefined) logger.info('captures can be stored again');
      else logger.error({ code: failure.code, err: failure.cause }, `captures cannot be stored: ${failure.message}`);
    },
    onWarning: (text) => logger.warn(text),
    onProblem: (problem) => logger.error({ err: problem }, 'storage reported a problem'),
    retain: { days: config.retainDays, bytes: config.retainBytes },
    thumbnailBytes: config.thumbnailBytes,
    onRetained: (removed) => logger.info(removed, 'retention removed captures'),
  });
}

/** @throws ConfigError when receivers would never be sent anything. */
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
