import { useEffect, useRef, useState } from 'preact/hooks';
import { call, queryOf } from '../api/client.ts';
import type { DetailedResult, InFlight } from '../api/types.ts';

/** Interval at which the progress is read, in milliseconds. */
const PROGRESS_MS = 250;

export type Run =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly progress: InFlight | undefined }
  | { readonly state: 'stored'; readonly result: DetailedResult }
  | { readonly state: 'failed'; readonly error: unknown };

export interface Capturing {
  readonly run: Run;
  start(body: object): void;
  cancel(): void;
}

/** Captures a page, and follows the capture while it waits and runs. Leaving the view cancels it. */
export function useCapture(): Capturing {
  const [run, setRun] = useState<Run>({ state: 'idle' });
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const start = async (body: object) => {
    const controller = new AbortController();
    const { signal } = controller;
    abort.current?.abort();
    abort.current = controller;
    setRun({ state: 'running', progress: undefined });
    const requestId = newRequestId();
    const stop = follow(requestId, signal, (progress) =>
      setRun((old) => (old.state === 'running' && abort.current === controller ? { state: 'running', progress } : old)),
    );
    try {
      const headers = { 'X-Request-Id': requestId };
      const { data } = await call<DetailedResult>('/screenshot', { method: 'POST', body, headers, signal });
      setRun({ state: 'stored', result: data });
    } catch (error) {
      if (!signal.aborted) setRun({ state: 'failed', error });
      else if (abort.current === controller)
        setRun({
          state: 'failed',
          error: new Error('The capture was cancelled.'),
        });
    } finally {
      stop();
    }
  };
  return { run, start: (body) => void start(body), cancel: () => abort.current?.abort() };
}

/** Reports the capture that a request waits for, until the returned function is called. */
function follow(requestId: string, signal: AbortSignal, report: (progress: InFlight | undefined) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const path = `/captures${queryOf({ request_id: requestId })}`;
  const look = async () => {
    const { data } = await call<readonly InFlight[]>(path, { signal }).catch(() => ({ data: [] }));
    if (isOver) return;
    report(data[0]);
    timer = setTimeout(() => void look(), PROGRESS_MS);
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Works without `crypto.randomUUID`, which browsers provide only over TLS and on loopback. */
function newRequestId(): string {
  return `ui-${[...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('')}`;
}
