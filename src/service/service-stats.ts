import type { ServiceStats } from '../capture/stats.ts';
import { LoadHistory } from '../metrics/load-history.ts';
import type { Parts } from './parts.ts';
import { type CountedParts, countProcess } from './process-stats.ts';

interface CountedService extends CountedParts, Pick<Parts, 'events' | 'pipeline' | 'jobs' | 'receivers' | 'cluster'> {
  /** Returns how many targets may be dialled at once. */
  readonly maxDials: () => number;
}

/** Counts what the service does from now on, and keeps its load of the last hour. */
export function countService(parts: CountedService) {
  const { counts, pipeline, jobs, receivers, cluster, maxDials } = parts;
  const { egress } = parts.capturing;
  const processStats = countProcess(parts);
  const loaded = () => ({
    ...processStats(),
    queue: {
      running: pipeline.load.running,
      queued: pipeline.load.queued,
      max_concurrent: pipeline.limits.maxConcurrent,
      max_queue: pipeline.limits.maxQueue,
    },
  });
  const stats = (): ServiceStats => ({
    ...loaded(),
    jobs: jobs.counts,
    messages: { ...counts.messages, pending: receivers.pending },
    dials: { max: maxDials(), ...egress.dials },
    egress: { captures: egress.refusals, webhooks: receivers.egress.refusals },
    cluster: cluster?.stats() ?? null,
  });
  return { stats, history: new LoadHistory({ events$: parts.events.events$, stats: loaded, clock: Date.now }) };
}
