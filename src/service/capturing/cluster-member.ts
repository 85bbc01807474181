import { tap } from 'rxjs';
import { errorText } from '../../capture/basics/error-text.ts';
import type { CaptureCommand } from '../../capture/command.ts';
import type { CaptureOutcome } from '../../capture/outcome.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import type { Cluster, Worker, WorkerOptions } from '../../cluster/open-cluster.ts';
import { ConfigError } from '../../config/mod.ts';
import type { ClusterConfig } from '../../config/slices.ts';
import { entryOf } from '../../feed/event-feed.ts';
import type { Logger } from '../../log/log.ts';
import type { EventLog } from '../../storage/ports/event-log.ts';
import type { ResultStore } from '../../storage/ports/result-store.ts';
import { captureFound } from '../../streams/events.ts';
import { performWithBackstops } from '../../streams/perform-with-backstops.ts';
import { dialCapture, mayBeDialled, performCapture } from './perform-capture.ts';
import type { Capturing } from './start-capturing.ts';

/** Readiness of a process while NATS is away. */
export const CLUSTER_AWAY = {
  ready: false,
  code: 'cluster_unavailable',
  reason: 'NATS cannot be reached',
} as const;

/** Opens the cluster that the configuration names; undefined for a process that is the whole service. */
export async function openClusterOf(config: ClusterConfig, logger: Logger): Promise<Cluster | undefined> {
  if (config.natsUrl.length === 0) return undefined;
  // Loaded on demand: a process that is the whole service loads no NATS client.
  const { openCluster } = await import('../../cluster/open-cluster.ts');
  try {
    return openCluster(config, {
      onState: (isUp, server) => {
        if (isUp) logger.info({ server }, 'NATS is available');
        else logger.error({ server }, 'NATS is unavailable');
      },
      onBadMessages: (dropped, subject, cause) =>
        logger.warn({ dropped, subject, err: cause }, 'messages of the cluster cannot be read and were dropped'),
      onProblem: (problem) => logger.error({ err: problem }, 'the cluster reported a problem'),
    });
  } catch (error) {
    const reason = errorText(error);
    throw new ConfigError(`the credentials or certificates for NATS cannot be read: ${reason}`, { cause: error });
  }
}

interface MemberParts extends Pick<WorkerOptions, 'maxDials'> {
  readonly capturing: Capturing;
  readonly results: Pick<ResultStore, 'get' | 'wordsOf'>;
  readonly eventLog: EventLog;
  /** Called when a capture starts and when it has ended. */
  readonly onStarted?: (command: CaptureCommand) => void;
  readonly onEnded?: (command: CaptureCommand, outcome: CaptureOutcome) => void;
}

/** Creates the worker of this process. It stores each capture before it reports it. */
export function createWorkerOf(cluster: Cluster, slots: number, parts: MemberParts): Worker {
  const { capturing, results, eventLog, onStarted, onEnded } = parts;
  // Without a browser, captures wait for one, and their targets should not notice.
  const maxDials = () => (capturing.unavailable === null ? parts.maxDials() : 0);
  return cluster.createWorker({
    slots,
    outbox: () => capturing.captureStore.pending,
    capture: (command, abort) => {
      onStarted?.(command);
      return performWithBackstops(command, {
        perform: (performing) =>
          performing.dialled !== undefined || (maxDials() > 0 && mayBeDialled(performing))
            ? dialAndPerform(performing, capturing)
            : performCapture(performing, capturing),
        abort,
        report: (error, { id, requestId }) =>
          capturing.logger.error({ capture_id: id, request_id: requestId, err: error }, 'a capture failed'),
      }).pipe(tap((outcome) => onEnded?.(command, outcome)));
    },
    maxDials,
    dial: async (command) => {
      const found = await dialCapture(command, capturing);
      if (!('outcome' in found)) return found;
      const ended = (outcome: CaptureOutcome): CaptureOutcome => {
        if (outcome.state === 'cancelled') return outcome;
        onStarted?.(command);
        onEnded?.(command, outcome);
        return outcome;
      };
      return { outcome: found.outcome.then(ended) };
    },
    logEnd: (outcome, batch) => logEnd(eventLog, outcome, batch),
    findOutcome: async (id) => {
      const [stored, words] = await Promise.all([results.get(id), results.wordsOf([id])]);
      return stored === undefined ? undefined : outcomeOfRecord({ ...stored, words: words.get(id) });
    },
  });
}

/** Dials the target of a capture that has a slot, unless that was done, and performs the capture if it is reached. */
async function* dialAndPerform(command: CaptureCommand, parts: Capturing): AsyncGenerator<CaptureOutcome> {
  const found = command.dialled ?? (await dialCapture(command, parts));
  if ('outcome' in found) {
    yield await found.outcome;
    return;
  }
  try {
    yield* performCapture({ ...command, dialled: found }, parts);
  } finally {
    found.close();
  }
}

/** Logs the end of a capture that has a record. Resolves when the event is stored: once for each capture. */
async function logEnd(eventLog: EventLog, outcome: CaptureOutcome, batch: string | null): Promise<void> {
  const event = captureFound(Date.now(), outcome, batch);
  if (event === undefined) return;
  eventLog.append(entryOf({ ...event, to: {} }));
  await eventLog.allStored();
}

/** Logs the captures that an ended process left for the database, whose tickets may have been dropped meanwhile. */
export async function logRecovered(eventLog: EventLog, record: StoredRecord): Promise<void> {
  await logEnd(eventLog, outcomeOfRecord(record), null);
}

/** Returns the outcome that a record describes. */
function outcomeOfRecord({ evidence, words, ...result }: StoredRecord): CaptureOutcome {
  if (!result.failed) return { state: 'stored', result, evidence, words };
  const failure = {
    code: result.failed_code === '' ? ('internal' as const) : result.failed_code,
    reason: result.failed_reason,
  };
  return { state: failure.code === 'capture_timeout' ? 'timed_out' : 'failed', failure, result };
}
