import type { ServiceStats } from '../capture/stats.ts';
import type { EventCounts } from '../metrics/tallies.ts';
import type { EventLog } from '../storage/ports/event-log.ts';
import { watchDiskSpace } from './disk-space.ts';
import type { Parts } from './parts.ts';
import type { StorageConfig } from './service-config.ts';

export interface CountedParts extends Pick<Parts, 'capturing' | 'storage'> {
  readonly config: Pick<StorageConfig, 'dataDir' | 'retainDays' | 'retainBytes'>;
  readonly counts: EventCounts;
  readonly eventLog: Pick<EventLog, 'unwritten'>;
  readonly log: { readonly droppedLines: number };
}

/** The statistics that every process has, whether it answers clients or captures for a cluster. */
export type ProcessStats = Pick<
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
