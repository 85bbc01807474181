/** Background work that is done again and again, one pass at a time. */
export interface RepeatedPass<T> {
  /** Runs a pass now, and from then on one at an interval after the last. */
  start(): void;
  /** Runs one pass, or waits for the one that is running. */
  pass(): Promise<T>;
  /** Aborts the signal of the passes, and resolves when none is running. */
  stop(): Promise<void>;
}

export interface RepeatedPassOptions<T> {
  /** Never rejects, and ends soon after the signal is aborted. */
  readonly run: (signal: AbortSignal) => Promise<T>;
  readonly intervalMs: number;
}

export function repeatPass<T>({ run, intervalMs }: RepeatedPassOptions<T>): RepeatedPass<T> {
  const ending = new AbortController();
  const { signal } = ending;
  let passing: Promise<T> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function pass(): Promise<T> {
    passing ??= run(signal).finally(() => {
      passing = undefined;
    });
    return passing;
  }

  function start(): void {
    void pass().then(() => {
      if (!signal.aborted) timer = setTimeout(start, intervalMs).unref();
    });
  }

  return {
    start,
    pass,
    stop: async () => {
      ending.abort();
      clearTimeout(timer);
      await passing;
    },
  };
}
