import { linesOf } from './lines.ts';
import { CapstanFailure, outOfReach, pause, readJson, type Send } from './send.ts';
import type { BatchLine, CallOptions, CaptureRequest } from './types.ts';

const LINES_TYPE = 'application/x-ndjson';
/** Requests that are sent at once. The next ones follow when their outcomes have been taken. */
const WINDOW = 100;

export interface BatchOptions extends CallOptions {
  /** Maximum number of captures at the same time. @default as many as the service allows */
  readonly concurrency?: number;
  /** Attempts without any outcome after which the batch fails. */
  readonly retries: number;
}

/**
 * Yields the outcome of each request once, in any order; `index` is the position of its request. Takes requests and
 * outcomes as fast as the caller does. Requests whose outcome had not come when a connection broke are sent again, so
 * a page may be captured twice.
 */
export async function* captureBatch(
  send: Send,
  requests: Iterable<CaptureRequest> | AsyncIterable<CaptureRequest>,
  options: BatchOptions,
): AsyncGenerator<BatchLine, void, undefined> {
  let first = 0;
  let window: CaptureRequest[] = [];
  for await (const request of requests) {
    if (window.push(request) < WINDOW) continue;
    yield* captureWindow(send, window, first, options);
    first += window.length;
    window = [];
  }
  if (window.length > 0) yield* captureWindow(send, window, first, options);
}

async function* captureWindow(
  send: Send,
  requests: readonly CaptureRequest[],
  first: number,
  { concurrency, signal, retries }: BatchOptions,
): AsyncGenerator<BatchLine, void, undefined> {
  const waiting = new Map(requests.map((request, index) => [index, request]));
  for (let attempt = 0; waiting.size > 0; attempt += 1) {
    const sent = [...waiting];
    const body = sent.map(([, request]) => `${JSON.stringify(request)}\n`).join('');
    const headers = { Accept: LINES_TYPE, 'Content-Type': LINES_TYPE };
    try {
      const path = concurrency === undefined ? '/batch' : `/batch?concurrency=${concurrency}`;
      const response = await send(path, { method: 'POST', headers, body, signal });
      for await (const text of linesOf(response, signal)) {
        if (text === '') continue;
        const line = readJson<BatchLine>(text);
        const index = sent[line.index]?.[0];
        // The last line of an answer that is broken off is a failure without an index.
        if (index === undefined) break;
        // An outcome that says that the service is stopping or full is not the outcome of the page.
        if (line.code === 'shutting_down' || line.code === 'queue_full') continue;
        waiting.delete(index);
        attempt = 0;
        yield { ...line, index: first + index };
      }
      if (waiting.size > 0) throw outOfReach(undefined);
    } catch (error) {
      if (signal?.aborted || !(error instanceof CapstanFailure && error.isTemporary) || attempt >= retries) throw error;
      await pause(attempt, error, signal);
    }
  }
}
