import type { Cluster, Worker } from '../cluster/open-cluster.ts';
import type { EventFeed } from '../feed/event-feed.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Storage } from '../storage/storage.ts';
import type { CapturePipeline } from '../streams/capture-pipeline.ts';
import type { EventStream } from '../streams/events.ts';
import type { Watches } from '../watches/watches.ts';
import type { Capturing } from './capturing.ts';
import type { Receivers } from './open-receivers.ts';

interface StoppedParts {
  /** Aborted first: nothing new is admitted, and nothing waits for the end of an outage. */
  readonly stopping: AbortController;
  readonly pipeline: CapturePipeline;
  readonly worker: Worker | undefined;
  readonly jobs: Jobs;
  readonly watches: Watches;
  readonly receivers: Pick<Receivers, 'stop' | 'egress'>;
  readonly condition: { stop(): void };
  readonly capturing: Capturing;
  readonly events: EventStream;
  readonly feed: EventFeed;
  readonly cluster: Cluster | undefined;
  readonly storage: Storage;
}

/**
 * Returns the function that stops the parts, each before those that it uses. Captures and messages have `graceMs` to
 * end; a second call can shorten the time.
 */
export function stopInOrder(parts: StoppedParts): (graceMs?: number) => Promise<void> {
  const { stopping, pipeline, worker, jobs, watches, condition, capturing, events, feed, cluster, storage } = parts;
  const { receivers } = parts;

  const stop = async (graceMs: number): Promise<void> => {
    const until = performance.now() + graceMs;
    stopping.abort();
    const backgroundStopped = Promise.all([jobs.stop(), watches.stop()]);
    // The only worker of a cluster still runs its own node's captures. Otherwise the queue is left to other workers.
    const isOnlyWorker = cluster?.stats().workers === 1;
    const workerStopped = isOnlyWorker ? undefined : worker?.stop(graceMs);
    await pipeline.drain(graceMs);
    await (workerStopped ?? worker?.stop(Math.max(0, until - performance.now())));
    await backgroundStopped;
    await receivers.stop(Math.max(0, until - performance.now()));
    condition.stop();
    await capturing.actors.close();
    await Promise.all([capturing.egress.close(), receivers.egress.close()]);
    events.complete();
    await feed.close();
    await cluster?.close();
    await storage.close();
  };

  let stopped: Promise<void> | undefined;
  return (graceMs = 0) => {
    if (stopped === undefined) stopped = stop(graceMs);
    else void pipeline.drain(graceMs).then(() => receivers.stop(graceMs));
    return stopped;
  };
}
