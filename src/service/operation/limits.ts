import { type CaptureLimits, LIMIT_BOUNDS } from '../../capture/operation/limits.ts';
import { refusal } from '../../capture/validate.ts';
import type { Worker } from '../../cluster/open-cluster.ts';
import type { Logger } from '../../log/log.ts';
import type { CaptureService } from '../capture-service.ts';
import type { Capturing } from '../capturing/start-capturing.ts';
import type { Parts } from '../parts.ts';

/** Changes the limits of the service while it runs. In a cluster, they are those of all processes. */
export function liveLimits({ pipeline, capturing: { actors }, clusterApi, worker, logger }: Parts) {
  const setOwn = (limits: CaptureLimits): void => {
    pipeline.setLimits(limits);
    actors.setSlots(limits.maxConcurrent);
  };

  const set: CaptureService['setLimits'] = async (change, by = {}) => {
    const { maxConcurrent = pipeline.limits.maxConcurrent, maxQueue = pipeline.limits.maxQueue } = change;
    if (clusterApi === undefined) setOwn(checked({ maxConcurrent, maxQueue }));
    else await clusterApi.setLimits({ maxConcurrent, maxQueue });
    logger.info({ ...named({ maxConcurrent, maxQueue }), ...by }, 'the limits were changed');
    return pipeline.limits;
  };

  return {
    set,
    /** Applies the limits of the configuration. In a cluster, only the slots of this process change. */
    reload: ({ maxConcurrent, maxQueue }: CaptureLimits): void => {
      if (clusterApi === undefined) {
        setOwn({ maxConcurrent, maxQueue });
        logger.info(named({ maxConcurrent, maxQueue }), 'the limits were changed');
        return;
      }
      if (worker !== undefined) {
        resizeWorker({ actors, worker, logger }, maxConcurrent);
      }
      logger.info(named(pipeline.limits), 'the limits of the cluster stay in force: PATCH /limits changes them');
    },
  };
}

/** Changes how many captures the worker of this process runs at once. */
export function resizeWorker(
  { actors, worker, logger }: Pick<Capturing, 'actors'> & { readonly worker: Worker; readonly logger: Logger },
  slots: number,
): void {
  actors.setSlots(slots);
  worker.setSlots(slots);
  logger.info({ max_concurrent: slots }, 'the slots of the worker were changed');
}

function named({ maxConcurrent, maxQueue }: CaptureLimits) {
  return { max_concurrent: maxConcurrent, max_queue: maxQueue };
}

/** @throws CapstanError with `invalid_request`. */
function checked(limits: CaptureLimits): CaptureLimits {
  const { min, max } = LIMIT_BOUNDS.maxConcurrent;
  if (limits.maxConcurrent <= max) return limits;
  throw refusal([{ path: 'maxConcurrent', message: `must be an integer from ${min} to ${max}` }]);
}
