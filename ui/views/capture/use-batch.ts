import { useEffect, useRef, useState } from 'preact/hooks';
import { callLines } from '../../api/client.ts';
import type { BatchLine } from '../../api/types.ts';

/** The captures of several URLs, in their order. */
export interface Batch {
  readonly urls: readonly string[];
  /** Outcomes so far, by position. */
  readonly outcomes: ReadonlyMap<number, BatchLine>;
  readonly isRunning: boolean;
  /** Why the rest has no outcome. */
  readonly error?: unknown;
}

interface Batching {
  readonly batch: Batch | undefined;
  start(urls: readonly string[], options: object): void;
  cancel(): void;
  clear(): void;
}

/** Captures several pages with the same options, as one batch. Leaving the view cancels it. */
export function useBatch(): Batching {
  const [batch, setBatch] = useState<Batch>();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const start = async (urls: readonly string[], options: object) => {
    const controller = new AbortController();
    abort.current?.abort();
    abort.current = controller;
    setBatch({ urls, outcomes: new Map(), isRunning: true });
    const change = (next: (old: Batch) => Batch) =>
      setBatch((old) => (old === undefined || abort.current !== controller ? old : next(old)));
    try {
      const requests = urls.map((url) => ({ ...options, url }));
      await callLines<BatchLine>('/batch', requests, controller.signal, (line) =>
        change((old) => ({ ...old, outcomes: new Map(old.outcomes).set(line.index, line) })),
      );
      change((old) => ({ ...old, isRunning: false }));
    } catch (error) {
      const why = controller.signal.aborted ? new Error('The rest was cancelled.') : error;
      change((old) => ({ ...old, isRunning: false, error: why }));
    }
  };
  return {
    batch,
    start: (urls, options) => void start(urls, options),
    cancel: () => abort.current?.abort(),
    clear: () => {
      abort.current?.abort();
      setBatch(undefined);
    },
  };
}
