import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import { CapstanError } from '../capture/errors.ts';
import type { InFlight, InFlightList, InFlightWanted } from '../capture/operation/in-flight.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import type { ClusterStats } from '../capture/operation/stats.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { ClusterConfig } from '../config/slices.ts';
import type { EventLog, EventOutbox } from '../storage/ports/event-log.ts';
import type { CaptureQueue } from '../streams/capture-queue.ts';
import { Census } from './census.ts';
import { AwayError, Link, type LinkOptions } from './connection.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { ClusterEventLog } from './event-log.ts';
import { ClusterInFlight } from './in-flight.ts';
import { LiveLimits } from './live-limits.ts';
import { connectionOptions } from './servers.ts';
import { subjectsOf } from './subjects.ts';
import { WorkQueue } from './work-queue.ts';
import { Worker, type WorkerOptions } from './worker.ts';

export type { Worker, WorkerOptions } from './worker.ts';

type ClusterHooks = Pick<LinkOptions, 'onState' | 'onProblem' | 'onBadMessages'>;

interface ApiOptions extends Pick<DispatcherOptions, 'evidenceOf'> {
  /** Generates the captures that this process admitted and that have no outcome yet, oldest first. */
  readonly inFlight: () => Iterable<InFlight>;
  /** Called when the limits of the cluster have changed. */
  readonly onLimits: (limits: CaptureLimits) => void;
}

/** The work queue, as an api node uses it. */
export interface ClusterApi {
  readonly queue: CaptureQueue;
  readonly perform: (command: CaptureCommand) => Promise<CaptureOutcome>;
  /** Whether a worker dials targets ahead of its slots. */
  readonly areDialsAvailable: boolean;
  /** Has a worker dial the target of a capture before it is queued. */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
  readonly limits: CaptureLimits;
  /** Returns captures in flight of all api nodes, oldest first. */
  inFlight(wanted: InFlightWanted): Promise<InFlightList>;
  /** Changes the limits of the whole cluster. Rejects with `cluster_unavailable`. */
  setLimits(limits: CaptureLimits): Promise<CaptureLimits>;
}

/** This process as a member of a cluster. */
export interface Cluster {
  /** Whether NATS can be reached. */
  readonly isUp: boolean;
  stats(): ClusterStats;
  /** Creates the event log of the cluster. Close it before the cluster. */
  openEventLog(outbox: EventOutbox): EventLog;
  createApi(options: ApiOptions): ClusterApi;
  createWorker(options: Omit<WorkerOptions, 'link' | 'onOutbox' | 'onMissing' | 'onProblem'>): Worker;
  /** Connects, in the background. Call it when the parts of this process are created. */
  start(): void;
  close(): Promise<void>;
}

/** Pause before streams and consumers that could not be read or created are tried again, in milliseconds. */
const ENSURE_RETRY_MS = 1_000;

/** @throws The system's error when a file of credentials or certificates cannot be read. */
export function openCluster(config: ClusterConfig, { onState, onProblem, onBadMessages }: ClusterHooks): Cluster {
  const { role } = config;
  /** The limits of a cluster that does not exist yet. */
  const limits: CaptureLimits = { maxConcurrent: config.clusterMaxConcurrent, maxQueue: config.maxQueue };
  const subjects = subjectsOf(config.clusterName);
  const connection = { ...connectionOptions(config), inboxPrefix: subjects.inbox(role) };
  const link = new Link({ connection, subjects, onState, onProblem, onBadMessages });
  const queue = new WorkQueue(link);
  let dispatcher: Dispatcher | undefined;
  let live: LiveLimits | undefined;
  let worker: Worker | undefined;
  let eventLog: ClusterEventLog | undefined;

  let isEnsuring = false;
  const ensure = async (): Promise<void> => {
    if (isEnsuring) return;
    isEnsuring = true;
    try {
      await queue.ensure(limits);
      await eventLog?.ensure();
      worker?.start();
      live?.start();
    } catch (error) {
      if (!(error instanceof AwayError)) {
        link.report(error);
        // A worker that may not create the streams waits for an api node; the server may have no JetStream yet.
        setTimeout(() => void ensure(), ENSURE_RETRY_MS).unref();
      }
    } finally {
      isEnsuring = false;
    }
  };
  link.observe((isUp) => {
    if (isUp) void ensure();
  });

  const census = new Census({
    link,
    own: () => [dispatcher, worker].flatMap((member) => (member === undefined ? [] : [member.announcement])),
  });

  return {
    get isUp() {
      return link.isUp;
    },
    stats() {
      const { announced } = census;
      const nodes = announced.filter((one) => one.kind === 'node');
      const workers = announced.filter((one) => one.kind === 'worker');
      return {
        role,
        connected: link.isUp,
        nodes: nodes.length,
        workers: workers.length,
        slots: census.slots,
        outbox: workers.reduce((sum, { outbox }) => sum + outbox, 0),
        running: nodes.reduce((sum, { running }) => sum + running, 0),
        waiting: nodes.reduce((sum, { waiting }) => sum + waiting, 0),
        bad_messages: link.badMessages,
      };
    },
    openEventLog(outbox) {
      eventLog = new ClusterEventLog({ link, outbox, clock: Date.now, onProblem });
      return eventLog;
    },
    createApi({ evidenceOf, inFlight, onLimits }) {
      const limiting = new LiveLimits({ link, queue, initial: limits, onChange: onLimits, onProblem });
      const dispatching = new Dispatcher({
        link,
        queue,
        limits: limiting,
        census,
        evidenceOf,
        eventsStored: async () => eventLog?.allStored(),
        onProblem,
      });
      const underWay = new ClusterInFlight({ link, name: dispatching.name, own: inFlight, census });
      live = limiting;
      dispatcher = dispatching;
      return {
        queue: dispatching.captureQueue,
        perform: (command) => dispatching.perform(command),
        get areDialsAvailable() {
          return dispatching.dials.areAvailable;
        },
        dial: (command) => dispatching.dials.dial(command),
        get limits() {
          return limiting.current;
        },
        inFlight: (wanted) => underWay.list(wanted),
        setLimits: (next) => (link.isUp ? limiting.set(next) : Promise.reject(new CapstanError('cluster_unavailable'))),
      };
    },
    createWorker(workerOptions) {
      worker = new Worker({
        ...workerOptions,
        link,
        onOutbox: () => census.announceAtOnce(),
        onMissing: () => void ensure(),
        onProblem,
      });
      return worker;
    },
    start: () => link.start(),
    async close() {
      census.stop();
      live?.stop();
      dispatcher?.stop();
      await link.close();
    },
  };
}
