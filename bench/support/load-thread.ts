import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { captureClient } from './capture-client.ts';

export interface Load {
  readonly origin: string;
  readonly urls: readonly string[];
  readonly perSecond: number;
}

export interface LoadAnswers {
  /** Milliseconds until each refusal with 429. */
  readonly refusedMs: readonly number[];
  readonly served: number;
}

/**
 * Requests the capture of each URL at a constant rate, then hangs up. Runs in a thread of its own, so that nothing else
 * of this process delays a request or its answer. Rejects when an answer is neither 200 nor 429.
 */
export async function sendLoad(load: Load): Promise<LoadAnswers> {
  const [answers]: LoadAnswers[] = await once(new Worker(import.meta.filename, { workerData: load }), 'message');
  if (answers === undefined) throw new Error('the load has no answers');
  return answers;
}

async function send({ origin, urls, perSecond }: Load): Promise<LoadAnswers> {
  const client = captureClient(origin);
  const hangUp = new AbortController();
  const refusedMs: number[] = [];
  let served = 0;
  const asked: Promise<void>[] = [];
  const startedAt = performance.now();
  for (const [index, url] of urls.entries()) {
    await delay(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    const one = client.capture(url, {}, hangUp.signal).then(
      ({ status, ms }) => {
        if (status === 429) refusedMs.push(ms);
        else if (status === 200) served += 1;
        else throw new Error(`capstan answered ${status}`);
      },
      (error: unknown) => {
        if (!hangUp.signal.aborted) throw error;
      },
    );
    asked.push(one);
  }
  hangUp.abort();
  await Promise.all(asked);
  client.close();
  return { refusedMs, served };
}

if (!isMainThread) parentPort?.postMessage(await send(workerData));
