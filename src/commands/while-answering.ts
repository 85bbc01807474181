import { setTimeout as delay } from 'node:timers/promises';
import { serviceUrl, withoutCredentials } from '../client/service-url.ts';

/** Interval of the questions whether a service still answers, and the time that an answer may take. */
const EVERY_MS = 10_000;
const MAX_SILENCE_MS = 15_000;

/**
 * Does work with a service, which may take as long as the service answers other requests: behind a silent proxy, it
 * would wait without end. The signal of the work is aborted when `signal` is. Rejects when the service does not answer.
 */
export async function whileAnswering<T>(
  url: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const silent = new AbortController();
  const done = new AbortController();
  const asking = (async () => {
    while (!silent.signal.aborted) {
      await delay(EVERY_MS, undefined, { signal: done.signal });
      if (await isSilent(url, done.signal)) {
        silent.abort(new Error(`${withoutCredentials(url)}: no answer for ${MAX_SILENCE_MS / 1000} s.`));
      }
    }
  })();
  asking.catch(() => undefined);
  try {
    return await work(AbortSignal.any([signal, silent.signal]));
  } finally {
    done.abort();
  }
}

/** Any answer will do. A connection that is refused or broken is no silence: the client repeats its requests. */
async function isSilent(url: string, done: AbortSignal): Promise<boolean> {
  const over = AbortSignal.timeout(MAX_SILENCE_MS);
  try {
    const response = await fetch(serviceUrl(url, '/livez'), { signal: AbortSignal.any([done, over]) });
    await response.body?.cancel();
    return false;
  } catch {
    return over.aborted;
  }
}
