import { AsyncLocalStorage } from 'node:async_hooks';

/** Background work that is done again and again, one pass at a time. */
export interface RepeatedPass<T> {
  /** Runs a pass now, and from then on one at each interval, unless the last one still runs. */
  start(): void;
  /** Runs one pass, or waits for the one that is running. */
  pass(): Promise<T>;
  /** Aborts the signal of the passes, and resolves when none is running. */
  stop(): Promise<void>;
}

interface RepeatedPassOptions<T> {
  /** Never rejects, and ends soon after the signal is aborted. */
  readonly run: (signal: AbortSignal) => Promise<T>;
  /** Called at each interval, before the pass. */
  readonly onInterval?: (() => void) | undefined;
  readonly intervalMs: number;
}

export function repeatPass<T>({ run, onInterval, intervalMs }: RepeatedPassOptions<T>): RepeatedPass<T> {
  const ending = new AbortController();
  // A pass that a request asks for is not part of its trace.
  const outsideRequests = AsyncLocalStorage.snapshot();
  let passing: Promise<T> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function pass(): Promise<T> {
    passing ??= outsideRequests(run, ending.signal).finally(() => {
      passing = undefined;
    });
    return passing;
  }

  function passOfInterval(): void {
    onInterval?.();
    void pass();
  }

  return {
    start: () => {
      passOfInterval();
      timer = setInterval(passOfInterval, intervalMs).unref();
    },
    pass,
    stop: async () => {
      ending.abort();
      clearInterval(timer);
      await passing;
    },
  };
}
