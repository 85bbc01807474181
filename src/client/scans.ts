import { type Ask, dataOf, readAnswer } from './answers.ts';
import { type Send, wait } from './send.ts';
import type { BatchLine, CallOptions, Job, Scan, ScanSettings } from './types.ts';

/** Interval at which a job that has no further outcome is asked again, in milliseconds. */
const POLL_MS = 500;
/** Outcomes that are read at once. */
const PAGE_LENGTH = 100;

/** Sends a list as it is. It is sent once: a stream cannot be read again. */
export async function startScan(
  send: Send,
  list: string | ReadableStream<Uint8Array>,
  { capture, ...settings }: ScanSettings,
  { signal }: CallOptions,
): Promise<Scan> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) if (value !== undefined) query.set(name, String(value));
  if (capture !== undefined) query.set('capture', JSON.stringify(capture));
  const headers = { 'Content-Type': 'application/octet-stream' };
  return dataOf(send(`/scans?${query}`, { method: 'POST', headers, body: list, signal }).then(readAnswer<Scan>));
}

/**
 * Yields the outcomes of a job in the order of its requests, and waits for those that are still to come, until the job
 * has ended. Those that a cancelled or failed job lacks are left out.
 */
export async function* followJob(
  ask: Ask,
  id: string,
  { signal, onProgress = () => {} }: CallOptions & { readonly onProgress?: (job: Job) => void },
): AsyncGenerator<BatchLine, void, undefined> {
  const path = `/jobs/${encodeURIComponent(id)}`;
  let query = `?limit=${PAGE_LENGTH}`;
  let expected = 0;
  for (;;) {
    const { data: job, next } = await ask<Job>(`${path}${query}`, { signal });
    onProgress(job);
    const hasEnded = job.finished_at !== null;
    let isWhole = true;
    for (const line of job.results ?? []) {
      if (line.index < expected) continue;
      isWhole = hasEnded || line.index === expected;
      if (!isWhole) break;
      yield line;
      expected = line.index + 1;
    }
    if (isWhole && next !== undefined) query = next;
    else if (hasEnded) return;
    else await wait(POLL_MS, signal);
  }
}
