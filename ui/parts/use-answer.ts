import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from '../api/client.ts';

interface Answered<T> {
  readonly data?: T;
  readonly error?: unknown;
}

/** Reads a path of the API, and reads again when the path changes. An undefined path reads nothing. */
export function useAnswer<T>(path: string | undefined): Answered<T> & { readonly reload: () => void } {
  const [answered, setAnswered] = useState<Answered<T> & { readonly path?: string | undefined }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    call<T>(path, { signal: abort.signal }).then(
      ({ data }) => setAnswered({ path, data }),
      (error: unknown) => !abort.signal.aborted && setAnswered({ path, error }),
    );
    return () => abort.abort();
  }, [path, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  // The answer for a previous path must not be shown, even briefly.
  const { path: about, ...current } = answered;
  return about === path ? { ...current, reload } : { reload };
}
