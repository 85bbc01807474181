import { useMemo, useRef, useState } from 'preact/hooks';
import { entry } from './route.ts';

/*
 * The state in which a view is left, such as how far it is scrolled: kept for each entry of the tab's history, so that
 * Back and Forward find it as it was.
 */

/** The key in the storage of the tab, which outlives reloads. */
const STORED = 'capstan-kept';
/** Maximum number of entries whose state is kept. */
const MAX_ENTRIES = 200;

/** By entry, the latest changed last; then by name. */
const known = new Map<string, Readonly<Record<string, unknown>>>(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'));

window.addEventListener('pagehide', () => {
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...known]));
  } catch {
    // The tab's storage is full: what was kept does not outlive a reload.
  }
});

export interface Kept<T> {
  /** The value that was kept before under this name in this entry. */
  readonly was: T | undefined;
  keep(value: T): void;
}

/** Returns what is kept under a name for the current entry of the history. The value is stored: keep no secrets. */
export function useKept<T>(name: string): Kept<T> {
  const of = entry.value;
  return useMemo(
    () => ({ was: known.get(of)?.[name] as T | undefined, keep: (value) => keepAs(of, name, value) }),
    [of, name],
  );
}

/** The input of a person in a form, and functions that change it and forget that it was changed. */
type Draft<T> = readonly [draft: T, change: (next: (old: T) => T) => void, forget: () => void];

/**
 * Returns what a person has typed in this entry of the history, or else `initial`. `storable` leaves out what must not
 * be stored, such as secrets.
 */
export function useDraft<T>(name: string, initial: T, storable: (draft: T) => T = (draft) => draft): Draft<T> {
  const { was, keep } = useKept<T | undefined>(name);
  const latest = useRef(was ?? initial);
  const [draft, setDraft] = useState(latest.current);
  const change = (next: (old: T) => T) => {
    latest.current = next(latest.current);
    setDraft(() => latest.current);
    keep(storable(latest.current));
  };
  return [draft, change, () => keep(undefined)];
}

/**
 * Returns state that is kept for each entry of the history, and a function that changes it. A new entry of the same view
 * begins with the state of the one before.
 */
export function useCarried<T>(name: string, initial: T): readonly [state: T, change: (next: (old: T) => T) => void] {
  const { was, keep } = useKept<T>(name);
  const latest = useRef(initial);
  const [, draw] = useState(initial);
  // The view stays mounted between its own entries.
  const change = useMemo(() => {
    const set = (state: T) => {
      latest.current = state;
      keep(state);
    };
    set(was ?? latest.current);
    return (next: (old: T) => T) => {
      set(next(latest.current));
      draw(() => latest.current);
    };
  }, [was, keep]);
  return [latest.current, change];
}

/** Returns URLs without their user names and passwords, which are not kept. */
export function withoutCredentials(urls: string): string {
  return urls.replaceAll(/\/\/[^/?#\s]*@/g, '//');
}

function keepAs(of: string, name: string, value: unknown): void {
  const others = known.get(of);
  known.delete(of);
  known.set(of, { ...others, [name]: value });
  const [oldest] = known.keys();
  if (known.size > MAX_ENTRIES && oldest !== undefined) known.delete(oldest);
}
