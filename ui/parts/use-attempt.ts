import { useCallback, useState } from 'preact/hooks';

interface Attempts {
  /** Why the last attempt failed. An aborted one did not fail. */
  readonly error: unknown;
  readonly isRunning: boolean;
  /** Runs the action, and keeps its failure. Resolves with whether it succeeded. */
  attempt(action: () => Promise<unknown>): Promise<boolean>;
}

/** Actions whose failure is shown until the next one. */
export function useAttempt(): Attempts {
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const attempt = useCallback(async (action: () => Promise<unknown>) => {
    setRunning(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (failure) {
      if (!(failure instanceof DOMException && failure.name === 'AbortError')) setError(failure);
      return false;
    } finally {
      setRunning(false);
    }
  }, []);
  return { error, isRunning, attempt };
}
