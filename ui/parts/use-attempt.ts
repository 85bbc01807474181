import { useCallback, useRef, useState } from 'preact/hooks';

interface Attempts {
  /** Why the last attempt failed. An aborted one did not fail. */
  readonly error: unknown;
  readonly isRunning: boolean;
  /**
   * Runs the action, and keeps its failure. Resolves with whether it succeeded. While one runs, another does nothing, so
   * that a double click makes one thing; actions on different things (`on`) run at once.
   */
  attempt(action: () => Promise<unknown>, on?: unknown): Promise<boolean>;
  /** Shows the failure no more. */
  forget(): void;
}

/** Actions whose failure is shown until the next one. */
export function useAttempt(): Attempts {
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const running = useRef(new Set<unknown>());
  const attempt = useCallback(async (action: () => Promise<unknown>, on?: unknown) => {
    if (running.current.has(on)) return false;
    running.current.add(on);
    setRunning(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (failure) {
      if (!(failure instanceof DOMException && failure.name === 'AbortError')) setError(failure);
      return false;
    } finally {
      running.current.delete(on);
      setRunning(running.current.size > 0);
    }
  }, []);
  const forget = useCallback(() => setError(undefined), []);
  return { error, isRunning, attempt, forget };
}
