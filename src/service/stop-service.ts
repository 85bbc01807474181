import type { Jobs } from '../jobs/jobs.ts';
import type { Watches } from '../watches/watches.ts';
import type { Parts } from './parts.ts';

interface Background {
  readonly jobs: Jobs;
  readonly watches: Watches;
  readonly condition: { stop(): void };
}

/**
 * Returns the function that stops the parts, each before those that it uses. Captures and messages have `graceMs` to
 * end; a second call can shorten the time.
 */
export function stopInOrder(
  { stopping, pipeline, worker, receivers, capturing, events, feed, cluster, storage }: Parts,
  { jobs, watches, condition }: Background,
): (graceMs?: number) => Promise<void> {
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
