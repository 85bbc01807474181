/** Long enough to include several captures of the slowest kind, short enough to follow a change within a minute. */
const WINDOW_MS = 30_000;

/**
 * Measures the rate at which captures end while every slot is busy: the throughput of an idle service says nothing
 * about its capacity. Completions and busy time are kept with exponential decay. All times are milliseconds of one
 * clock.
 */
export function createCompletionRate() {
  let since: number | undefined;
  let completions = 0;
  let elapsedMs = 0;

  return {
    /**
     * Notes whether the time since the last call was saturated, and the captures that ended in it. Call it before the
     * number of busy slots changes.
     */
    note(now: number, saturated: boolean, completed = 0) {
      // A wall clock may be set back; negative time counts as none.
      const passed = Math.max(0, now - (since ?? now));
      since = now;
      if (!saturated) return;
      const kept = Math.exp(-passed / WINDOW_MS);
      completions = completions * kept + completed;
      elapsedMs = elapsedMs * kept + WINDOW_MS * (1 - kept);
    },
    /** Milliseconds per completion at this rate. */
    msPerCompletion() {
      // Before the first completion, assume that one completes now.
      return elapsedMs / Math.max(1, completions);
    },
  };
}
