import { statfs } from 'node:fs/promises';
import type { ServiceStats } from '../../capture/operation/stats.ts';
import type { StorageConfig } from '../../config/slices.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { LoadHistory } from '../../metrics/load-history.ts';
import type { EventCounts } from '../../metrics/tallies.ts';
import type { EventLog } from '../../storage/ports/event-log.ts';
import type { Parts } from '../parts.ts';

interface CountedService extends CountedParts, Pick<Parts, 'events' | 'pipeline' | 'receivers' | 'cluster'> {
  readonly jobs: Jobs;
  /** Returns how many targets may be dialled at once. */
  readonly maxDials: () => number;
}

interface CountedParts extends Pick<Parts, 'capturing' | 'storage'> {
  readonly config: Pick<StorageConfig, 'dataDir' | 'retainDays' | 'retainBytes'>;
  readonly counts: EventCounts;
  readonly eventLog: Pick<EventLog, 'unwritten'>;
  readonly log: { readonly droppedLines: number };
}

/** The statistics that every process has, whether it answers clients or captures for a cluster. */
type ProcessStats = Pick<
  ServiceStats,
  'uptime_ms' | 'captures' | 'batches' | 'pool' | 'ip_info' | 'store' | 'retention' | 'log'
>;

/** Returns a function that reads them. The uptime begins now. */
export function countProcess({ config, counts, capturing, storage, eventLog, log }: CountedParts): () => ProcessStats {
  const startedAt = performance.now();
  const disk = watchDiskSpace(config.dataDir);
  const removes = config.retainDays.length > 0 || config.retainBytes !== null;
  return () => ({
    uptime_ms: Math.round(performance.now() - startedAt),
    captures: counts.captures,
    batches: counts.batches,
    pool: capturing.actors.stats(),
    ip_info: capturing.ipFacts.counts,
    store: {
      kind: storage.results.kind,
      state: storage.results.state,
      outbox: storage.captureStore.pending,
      written: storage.captureStore.written,
      bytes: storage.artifacts.bytes,
      disk: disk(),
      events_unwritten: eventLog.unwritten,
    },
    retention: removes ? storage.retention.counts : null,
    log: { dropped: log.droppedLines },
  });
}

/**
 * Returns a function that reads the space of the file system of a directory. It never waits for the disk: each call
 * returns what the call before it has found.
 */
function watchDiskSpace(directory: string): () => ServiceStats['store']['disk'] {
  let known: ServiceStats['store']['disk'] = null;
  const read = async (): Promise<void> => {
    try {
      const { bavail, blocks, bsize } = await statfs(directory);
      known = { free: bavail * bsize, size: blocks * bsize };
    } catch {
      known = null;
    }
  };
  void read();
  return () => {
    void read();
    return known;
  };
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
