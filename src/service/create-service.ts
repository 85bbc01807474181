import { randomUUID } from 'node:crypto';
import { catchError, defer, finalize, from, type Observable, switchMap } from 'rxjs';
import { createBrowserActor } from '../actors/browser-actor.ts';
import { CapstanError } from '../capture/errors.ts';
import { likeness } from '../capture/options-digest.ts';
import type { Pressure } from '../capture/pressure.ts';
import { type Config, ConfigError } from '../config.ts';
import { createTargetPolicy } from '../egress/address-policy.ts';
import { createEgress } from '../egress/create-egress.ts';
import { createDnsLookup } from '../egress/dns-lookup.ts';
import type { Egress } from '../egress/egress.ts';
import { eventBody } from '../feed/event-body.ts';
import { openEventFeed } from '../feed/event-feed.ts';
import { createJobs } from '../jobs/jobs.ts';
import type { Logger } from '../log.ts';
import { openGauge } from '../pressure/gauge.ts';
import { overloadMarks } from '../pressure/marks.ts';
import { READING_INTERVAL_MS, watchPressure } from '../pressure/monitor.ts';
import { createJudge } from '../pressure/overload.ts';
import { createStorage } from '../storage/storage.ts';
import { createBatchRunner } from '../streams/batch.ts';
import { createCapturePipeline } from '../streams/capture-pipeline.ts';
import { createCounters } from '../streams/counters.ts';
import { createEventStream, pressureChanged } from '../streams/events.ts';
import { outlastingOutages } from '../streams/outages.ts';
import { reusing } from '../streams/reuse.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import type { CaptureService, Readiness } from './capture-service.ts';
import { findStored } from './find-stored.ts';
import { createIpFacts } from './ip-facts.ts';
import { logEvent } from './log-event.ts';
import { performCapture } from './perform-capture.ts';

export type { BatchElement, CaptureService, Readiness } from './capture-service.ts';

/** What the service needs of the configuration; the rest is the HTTP server's. */
export type ServiceConfig = Pick<
  Config,
  | 'dbPath'
  | 'mongoUrl'
  | 'dataDir'
  | 'retainDays'
  | 'retainBytes'
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

/** How long a capture of a job waits for the end of an outage of the service. */
const MAX_JOB_OUTAGE_MS = 60 * 60 * 1000;

/**
 * Joins the parts and starts them in order: the stores, the way out, the browsers. A database or a browser that cannot
 * be had is no reason not to start: what needs it is refused until it is there.
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
  const logging = events.events$.subscribe((event) => logEvent(logger, event));

  const storage = await createStorage({
    dataDir: config.dataDir,
    dbPath: config.dbPath,
    mongoUrl: config.mongoUrl,
    onState: (state, reason) => {
      if (state === 'up') logger.info('the database can be used');
      else logger.error({ reason }, state === 'damaged' ? 'the database is damaged' : 'the database cannot be used');
    },
    onStoreFailure: (failure) => {
      if (failure === undefined) logger.info('captures can be stored again');
      else logger.error({ code: failure.code, err: failure.cause }, `captures cannot be stored: ${failure.message}`);
    },
    onWarning: (text) => logger.warn(text),
    onProblem: (problem) => logger.error({ err: problem }, 'the stores have a problem'),
    retain: { days: config.retainDays, bytes: config.retainBytes },
    onRetained: (removed) => logger.info(removed, 'captures were removed that were too old or too much'),
  });
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
  // Not awaited: a browser that hangs at its start delays neither listening nor stopping.
  const started = actor.start().then(
    () => {
      const { availability } = actor;
      if (!availability.available) logger.error({ cause: availability.detail }, 'no browser could be started');
    },
    (error: unknown) => logger.error({ err: error }, 'the profiles of earlier browsers could not be removed'),
  );

  const ipFacts = createIpFacts(config, (error) => logger.warn({ err: error }, 'an address could not be looked up'));
  const pipeline = createCapturePipeline({
    limits: { maxConcurrent: config.maxConcurrent, maxQueue: config.maxQueue },
    perform: (command) =>
      performCapture(command, { egress, actor, ipFacts, captureStore: storage.captureStore, logger }),
    ids: () => storage.ids.next(),
    events,
    report: (error, command) => logger.error({ capture_id: command.id, err: error }, 'a capture failed inside'),
  });

  const admitCallback = (callback: string): Observable<void> =>
    whileSubscribed((signal) => webhooks.admit(callback, signal));
  const reuse = reusing({
    submit: pipeline.submit,
    find: (request, maxAgeMs) => findStored(storage, request, maxAgeMs, Date.now()),
    keyOf: (request) => `${likeness(request)} ${request.timeoutMs} ${request.target.url}`,
    events,
  });
  const submit: typeof pipeline.submit = (request, options) =>
    defer(() => {
      const refusal = egress.screenLiteral(request.target.parsed);
      if (refusal !== null) {
        return pipeline.refuse(request, new CapstanError(refusal.code, refusal.reason), options?.batch);
      }
      const { callback, ...rest } = request;
      if (callback === undefined) return reuse(request, options);
      // Looked up before it is admitted: a name server that is slow holds no slot.
      return admitCallback(callback).pipe(
        catchError((error: unknown) => pipeline.refuse(rest, asCapstanError(error), options?.batch)),
        switchMap(() => reuse(request, options)),
      );
    });
  const outagesEnd = new AbortController();
  const outageStop = outagesEnd.signal;
  const batchOf = (submitOne: typeof submit) =>
    createBatchRunner({ pipeline, submit: submitOne, events, ids: randomUUID });
  const runBatch = batchOf(outlastingOutages({ submit, stopping: outageStop }));
  const submitJob = outlastingOutages({ submit, limitMs: MAX_JOB_OUTAGE_MS, stopping: outageStop });
  const jobs = createJobs({
    store: storage.jobs,
    enabled: storage.results.kind !== 'none',
    submit: submitJob,
    submitBatch: batchOf(submitJob),
    atOnce: () => pipeline.limits.maxConcurrent,
    ids: randomUUID,
    report: (error) => logger.error({ err: error }, 'a job failed inside'),
  });
  const submitBatch: CaptureService['submitBatch'] = (elements, concurrency, size, callback) =>
    callback === undefined
      ? runBatch(elements, concurrency, size)
      : admitCallback(callback).pipe(switchMap(() => runBatch(elements, concurrency, size, callback)));

  const startedAt = performance.now();
  let stopping: Promise<void> | undefined;
  const readiness = (): Readiness => {
    if (stopping !== undefined) return { ready: false, code: 'shutting_down', reason: 'the service is shutting down' };
    const { availability } = actor;
    if (!availability.available) return { ready: false, code: 'browser_unavailable', reason: availability.reason };
    const { refusal } = storage.captureStore;
    if (refusal !== undefined) return { ready: false, code: refusal.code, reason: refusal.message };
    const { state } = storage.results;
    return { ready: true, degraded: state === 'down' || state === 'damaged' ? ['database'] : [] };
  };

  const monitor = watchPressure({
    gauge: openGauge(READING_INTERVAL_MS),
    judge: createJudge(overloadMarks(config)),
    inside: () => pipeline.load.inside,
    onVerdict: (overload) => {
      pipeline.setOverload(overload);
      const now = pressure();
      if (now.accepting !== accepting) events.emit(pressureChanged(Date.now(), now));
      accepting = now.accepting;
    },
  });
  let accepting = true;
  const pressure = (): Pressure => {
    const { reading } = monitor;
    const { memory } = reading;
    const ready = readiness();
    const reason = ready.ready ? pipeline.refusal()?.message : ready.reason;
    return {
      running: pipeline.load.running,
      queued: pipeline.load.queued,
      maxConcurrent: pipeline.limits.maxConcurrent,
      maxQueued: pipeline.limits.maxQueue,
      cpu: percent(reading.cpu),
      memory: memory === null ? null : percent(1 - memory.availableBytes / memory.totalBytes),
      eventLoopDelayMs: Math.round(reading.eventLoopDelayMs),
      accepting: reason === undefined,
      reason: reason ?? '',
    };
  };

  const stop = async (graceMs: number): Promise<void> => {
    const until = performance.now() + graceMs;
    outagesEnd.abort();
    const jobsStopped = jobs.stop();
    await pipeline.drain(graceMs);
    await jobsStopped;
    await webhooks.drain(Math.max(0, until - performance.now()));
    webhooks.stop();
    monitor.stop();
    await actor.close();
    await Promise.all([egress.close(), receiverEgress.close()]);
    events.complete();
    await feed.close();
    await storage.close();
    counters.stop();
    logging.unsubscribe();
  };

  return {
    submit,
    submitBatch,
    events$: events.events$,
    feed,
    takesCallbacks: config.webhookSecret.length > 0,
    admitCallback,
    refuseUnread: () => pipeline.refuseUnread(),
    results: storage.results,
    idempotency: storage.idempotency,
    artifacts: storage.artifacts,
    jobs,
    get readiness(): Readiness {
      return readiness();
    },
    pressure,
    whyMissing: async (id) => {
      const isElsewhere = await storage.captureStore.isElsewhere(id).catch(() => false);
      return isElsewhere
        ? new CapstanError('artifact_elsewhere')
        : new CapstanError('not_found', `There is no screenshot with the id ${id}.`);
    },
    remove: async (id) => {
      if (!(await storage.captureStore.has(id))) return false;
      if (await storage.captureStore.isElsewhere(id)) throw new CapstanError('artifact_elsewhere');
      await storage.captureStore.remove([id]);
      return true;
    },
    setLimits: ({ maxConcurrent = pipeline.limits.maxConcurrent, maxQueue = pipeline.limits.maxQueue }) => {
      pipeline.setLimits({ maxConcurrent, maxQueue });
      actor.setSlots(maxConcurrent);
      logger.info({ max_concurrent: maxConcurrent, max_queue: maxQueue }, 'the limits were set');
      return pipeline.limits;
    },
    stats: () => ({
      uptime_ms: Math.round(performance.now() - startedAt),
      captures: counters.captures,
      batches: counters.batches,
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
        bytes: storage.artifacts.bytes,
      },
      retention: config.retainDays === null && config.retainBytes === null ? null : storage.retention.counts,
      log: { dropped: log.droppedLines },
    }),
    started,
    kill: () => actor.kill(),
    stop: (graceMs = 0) => {
      if (stopping === undefined) stopping = stop(graceMs);
      // Asked again, more urgently.
      else void pipeline.drain(graceMs).then(() => webhooks.drain(graceMs));
      return stopping;
    },
  };
}

/** Throws a `ConfigError` when receivers would never be told anything. */
function checkReceivers(
  { webhook, webhookSecret }: Pick<Config, 'webhook' | 'webhookSecret'>,
  egress: Pick<Egress, 'screenLiteral'>,
): void {
  if (webhook.length > 0 && webhookSecret.length === 0) {
    throw new ConfigError('--webhook cannot be without --webhook-secret: what is delivered is signed');
  }
  for (const receiver of webhook) {
    const refusal = egress.screenLiteral(new URL(receiver));
    if (refusal !== null) throw new ConfigError(`--webhook is not allowed: ${refusal.reason}`);
  }
}

/** Work that its subscriber waits for, and that ends with him. */
function whileSubscribed<T>(work: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return defer(() => {
    const gone = new AbortController();
    return from(work(gone.signal)).pipe(finalize(() => gone.abort()));
  });
}

function asCapstanError(error: unknown): CapstanError {
  return error instanceof CapstanError ? error : new CapstanError('internal', undefined, { cause: error });
}

/** To one decimal. */
function percent(share: number): number {
  return Math.round(share * 1000) / 10;
}
