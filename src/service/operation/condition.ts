import type { PressureEvent } from '../../capture/events.ts';
import type { Overload, Pressure } from '../../capture/operation/pressure.ts';
import type { ClusterStats } from '../../capture/operation/stats.ts';
import type { PressureConfig } from '../../config/slices.ts';
import { openGauge } from '../../pressure/gauge.ts';
import { collectSoon, returnLargeBlocks, trimAllocator } from '../../pressure/give-back.ts';
import { READING_INTERVAL_MS, watchPressure } from '../../pressure/monitor.ts';
import { createJudge } from '../../pressure/overload.ts';
import { overloadThresholds } from '../../pressure/thresholds.ts';
import type { StoreState } from '../../storage/ports/result-store.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CapturePipeline } from '../../streams/capture-pipeline.ts';
import { type EventStream, pressureChanged } from '../../streams/events.ts';
import type { NotReady, Readiness } from '../capture-service.ts';

interface ConditionParts {
  /** Returns why no browser, or no cluster, can take captures; null while one can. */
  readonly whyUnavailable: () => NotReady | null;
  readonly storage: Pick<Storage, 'captureStore' | 'results'>;
  readonly pipeline: Pick<CapturePipeline, 'load' | 'limits' | 'refusal'>;
  /** Called when an overload begins, changes or ends. */
  readonly setOverload: (overload: Overload | null) => void;
  /** Called after every reading. */
  readonly onPressure?: (pressure: Pressure) => void;
  /** Returns the number of captures in progress. */
  readonly active: () => number;
  readonly cluster: () => ClusterStats | null;
  readonly events: Pick<EventStream, 'emit' | 'conclude'>;
  readonly stopping: AbortSignal;
}

const NO_WORKER = 'no worker is connected: captures are queued, and wait for one';
const STOPPING = { ready: false, code: 'shutting_down', reason: 'the service is shutting down' } as const;
const NO_DATABASE = { ready: false, code: 'database_unavailable', reason: 'the database cannot be used' } as const;

/** States of a database whose records wait in the outbox. */
const DEGRADED: ReadonlySet<StoreState> = new Set(['down', 'damaged']);

/**
 * Readiness and load of the service. Watches the machine: an overload closes the pipeline. Each change of `accepting`,
 * and of the parts that cannot be used, is an event.
 */
export function watchCondition(config: PressureConfig, parts: ConditionParts) {
  const { storage, pipeline, events, stopping } = parts;
  /** The state that the last event reported: `accepting`, then the parts that are degraded. */
  let reported = 'true';
  let isLeaving = false;

  /** Whether captures are admitted. */
  const admission = (): Readiness => {
    if (stopping.aborted) return STOPPING;
    const unavailable = parts.whyUnavailable();
    if (unavailable !== null) return unavailable;
    const { refusal } = storage.captureStore;
    if (refusal !== undefined) {
      // Probes expect 503, also for a full disk.
      const code = refusal.code === 'storage_full' ? 'storage_unavailable' : refusal.code;
      return { ready: false, code, reason: refusal.message };
    }
    return { ready: true, degraded: DEGRADED.has(storage.results.state) ? ['database'] : [] };
  };

  /** Whether captures can be made: admitted, and then run. */
  const readiness = (): Readiness => {
    if (isLeaving) return STOPPING;
    const admitted = admission();
    if (!admitted.ready || parts.cluster()?.slots !== 0) return admitted;
    return { ready: false, code: 'cluster_unavailable', reason: NO_WORKER };
  };

  /** Whether stored captures can be read. */
  const reads = (): Readiness => {
    if (isLeaving || stopping.aborted) return STOPPING;
    return DEGRADED.has(storage.results.state) ? NO_DATABASE : { ready: true, degraded: [] };
  };

  const pressure = (): Pressure => {
    const { cpu, memory, eventLoopDelayMs } = monitor.reading;
    const ready = admission();
    const reason = ready.ready ? pipeline.refusal()?.message : ready.reason;
    const cluster = parts.cluster();
    return {
      running: pipeline.load.running,
      queued: pipeline.load.queued,
      maxConcurrent: pipeline.limits.maxConcurrent,
      maxQueued: pipeline.limits.maxQueue,
      cpu: percent(cpu),
      memory: memory === null ? null : percent(1 - memory.availableBytes / memory.totalBytes),
      eventLoopDelayMs: Math.round(eventLoopDelayMs),
      accepting: reason === undefined,
      reason: reason ?? (cluster?.slots === 0 ? NO_WORKER : ''),
      cluster,
    };
  };

  /** While the database cannot be used, receivers are not told from the log: see `open-alerts.ts`. */
  const tell = (event: PressureEvent): void => {
    if (DEGRADED.has(storage.results.state)) events.emit(event);
    else events.conclude(event);
  };

  void returnLargeBlocks();
  const monitor = watchPressure({
    gauge: openGauge(READING_INTERVAL_MS),
    judge: createJudge(overloadThresholds(config)),
    activeCaptures: parts.active,
    giveBack: () => {
      collectSoon();
      void trimAllocator();
    },
    onVerdict: (overload) => {
      parts.setOverload(overload);
      const now = pressure();
      const ready = admission();
      const degraded = ready.ready ? ready.degraded : [];
      const state = [now.accepting, ...degraded].join();
      if (state !== reported) tell(pressureChanged(Date.now(), now, degraded));
      reported = state;
      parts.onPressure?.(now);
    },
  });

  return {
    get readiness() {
      return readiness();
    },
    get reads() {
      return reads();
    },
    pressure,
    /** Makes the service unready, although it still admits captures. */
    announceStop: () => {
      isLeaving = true;
    },
    stop: () => monitor.stop(),
  };
}

/** Returns a share in per cent, with one decimal. */
function percent(share: number): number {
  return Math.round(share * 1000) / 10;
}
