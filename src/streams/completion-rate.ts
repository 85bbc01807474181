/** How fast captures end while every slot has work. All times are milliseconds of any steady clock. */
export interface CompletionRate {
  /** To be called before anything changes: the time since the last call was spent saturated, or it was not. */
  pass(now: number, saturated: boolean): void;
  completed(): void;
  /** Milliseconds that one completion takes at this rate. */
  msPerCompletion(): number;
}

/** Long enough to see several captures of the slowest kind, short enough to follow a change within a minute. */
const WINDOW_MS = 30_000;

/**
 * Completions and saturated time, both forgotten exponentially. Only saturated time counts: what trickles through a
 * service at rest says nothing about how fast it is when it is full.
 */
export function createCompletionRate(windowMs: number = WINDOW_MS): CompletionRate {
  let since: number | undefined;
  let completions = 0;
  let elapsedMs = 0;

  return {
    pass(now, saturated) {
      // A wall clock may be set back; time that went backwards did not pass.
      const passed = Math.max(0, now - (since ?? now));
      since = now;
      if (saturated && passed > 0) {
        const kept = Math.exp(-passed / windowMs);
        completions *= kept;
        elapsedMs = elapsedMs * kept + windowMs * (1 - kept);
      }
    },
    completed() {
      completions += 1;
    },
    msPerCompletion() {
      // Before the first has ended the best guess is that one ends now.
      return elapsedMs / Math.max(1, completions);
    },
  };
}
