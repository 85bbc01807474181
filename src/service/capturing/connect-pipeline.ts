import type { ClusterApi } from '../../cluster/open-cluster.ts';
import type { ServiceConfig } from '../../config/slices.ts';
import { descriptorLimit, dialsWithin } from '../../pressure/descriptors.ts';
import type { EventLog } from '../../storage/ports/event-log.ts';
import { type CapturePipelineOptions, createCapturePipeline } from '../../streams/capture-pipeline.ts';
import { createDialStage, type Dialling } from '../../streams/dial-stage.ts';
import type { Parts } from '../parts.ts';
import { createWorkerOf } from './cluster-member.ts';
import { dialCapture, mayBeDialled, performCapture } from './perform-capture.ts';
import type { Capturing } from './start-capturing.ts';

/** `sharedLog`: the log of the cluster. */
type PipelineParts = Pick<Parts, 'capturing' | 'storage' | 'events' | 'cluster' | 'logger'> & {
  readonly sharedLog: EventLog | undefined;
};

/**
 * Time from a capture's deadline until the api node gives up waiting for its worker, in milliseconds. Longer than the
 * worker's grace period, so that the worker's report comes first.
 */
const CLUSTER_GRACE_MS = 10_000;

/**
 * Connects the pipeline with what performs its captures: the browsers of this process, or the work queue of a cluster,
 * whose worker in this process then has the browsers.
 */
export function connectPipeline(config: ServiceConfig, parts: PipelineParts) {
  const { capturing, storage, events, cluster, sharedLog, logger } = parts;
  const clusterApi = cluster?.createApi({
    evidenceOf: async (id) => (await storage.results.get(id))?.evidence ?? null,
    inFlight: () => pipeline.inFlight(),
    onLimits: ({ maxConcurrent, maxQueue }) => {
      pipeline.setLimits({ maxConcurrent, maxQueue });
      logger.info({ max_concurrent: maxConcurrent, max_queue: maxQueue }, 'the limits of the cluster are in force');
    },
  });
  const dialStage = createDialStage(dialsWithin(descriptorLimit(), config.maxDials));
  const performer = clusterApi === undefined ? byThisProcess(config, capturing) : byCluster(config, clusterApi);
  const pipeline = createCapturePipeline({
    ...performer,
    dialling: { ...performer.dialling, stage: dialStage },
    ids: () => storage.ids.next(),
    events,
    report: (error, { id }) => logger.error({ capture_id: id, err: error }, 'a capture failed'),
  });
  const worker =
    cluster !== undefined && sharedLog !== undefined && config.role === 'all'
      ? createWorkerOf(cluster, config.maxConcurrent, {
          capturing,
          results: storage.results,
          eventLog: sharedLog,
          maxDials: () => dialStage.limit,
        })
      : undefined;
  return {
    pipeline,
    clusterApi,
    worker,
    setMaxDials: (maxDials: number): void => dialStage.setLimit(dialsWithin(descriptorLimit(), maxDials)),
    /** Maximum number of dials at once: in a cluster, 0 without a worker that dials ahead of its slots. */
    get maxDials() {
      return clusterApi === undefined || clusterApi.areDialsAvailable ? dialStage.limit : 0;
    },
  };
}

/** Options that depend on where captures are performed. */
type PerformerOptions = Pick<CapturePipelineOptions, 'limits' | 'perform' | 'queue' | 'maxWaitMs' | 'graceMs'> & {
  readonly dialling: Omit<Dialling, 'stage'>;
};

/** Captures of this process, by its browsers. */
function byThisProcess({ maxConcurrent, maxQueue }: ServiceConfig, capturing: Capturing): PerformerOptions {
  return {
    limits: { maxConcurrent, maxQueue },
    perform: (command) => performCapture(command, capturing),
    dialling: {
      // Without a browser, captures wait for one, and their targets should not notice.
      applies: (command) => capturing.unavailable === null && mayBeDialled(command),
      dial: (command) => dialCapture(command, capturing),
    },
  };
}

/** Captures of a cluster, by the workers that claim them from its queue. */
function byCluster({ maxWaitMs }: ServiceConfig, api: ClusterApi): PerformerOptions {
  return {
    limits: api.limits,
    perform: api.perform,
    queue: api.queue,
    maxWaitMs,
    graceMs: CLUSTER_GRACE_MS,
    dialling: {
      // A single capture has a place in the queue: its worker dials in the slot.
      applies: (command) => command.batch !== null && mayBeDialled(command) && api.areDialsAvailable,
      dial: api.dial,
    },
  };
}
