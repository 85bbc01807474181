import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { subscribe } from '../../api/events.ts';
import { onRemoved } from '../../api/removal.ts';
import type { Result } from '../../api/types.ts';
import { type Filters, listPath, readPage } from './filters.ts';

/** Number of records per page: enough for a few screens. */
const PAGE = 60;
/** Minimum interval between requests for new captures, in milliseconds. */
const REFRESH_MS = 700;

export interface Results {
  readonly items: readonly Result[];
  /** `pending`: the first page has not been received yet. */
  readonly state: 'pending' | 'ready' | 'failed';
  readonly error: unknown;
  readonly isComplete: boolean;
  /** Number of captures that have arrived while the list was held. */
  readonly waiting: number;
  loadMore(): void;
  reload(): void;
  /** Shows the new state of a record. Fields that only lists have stay as they are. */
  readonly replace: (record: Result) => void;
  /** Shows the captures that have arrived while the list was held. */
  release(): void;
}

interface List {
  /** Path of its first page. */
  readonly path: string;
  readonly items: readonly Result[];
  readonly state: Results['state'];
  readonly error?: unknown;
  readonly next?: string | undefined;
  readonly held: readonly Result[];
}

const nothing = (path: string): List => ({ path, items: [], state: 'pending', held: [] });

/**
 * Reads the results that the filters select, page by page, and keeps them up to date. While `isHeld` returns true, new
 * captures are only counted, so that the cards in view do not move.
 */
export function useResults(filters: Filters, isHeld: () => boolean): Results {
  const first = listPath(filters, PAGE);
  const [latest, setList] = useState(() => nothing(first));
  // The latest list may still be that of the filters before.
  const list = latest.path === first ? latest : nothing(first);
  const reading = useRef<string | undefined>(undefined);
  const current = useRef(list);
  current.current = list;

  const read = useCallback(
    async (path: string, signal: AbortSignal) => {
      if (reading.current === path) return;
      reading.current = path;
      try {
        const { data, next: query } = await readPage(path, signal);
        const next = query === undefined ? undefined : path.replace(/\?.*/, () => query);
        setList((old) => ({ ...old, items: merged(path === first ? [] : old.items, data), next, state: 'ready' }));
      } catch (error) {
        if (!signal.aborted) setList((old) => ({ ...old, state: 'failed', error }));
      } finally {
        reading.current = undefined;
      }
    },
    [first],
  );

  const replace = useCallback((record: Result) => {
    const now = (each: Result) => (each.id === record.id ? { ...each, ...record } : each);
    setList((old) => ({ ...old, items: old.items.map(now) }));
  }, []);

  const [attempt, setAttempt] = useState(0);
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    reading.current = undefined;
    setList(nothing(first));
    void read(first, abort.current.signal);
    return () => abort.current.abort();
  }, [first, read, attempt]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      timer = undefined;
      const { signal } = abort.current;
      const { data } = await readPage(first, signal).catch(() => ({ data: [] }));
      if (signal.aborted) return;
      setList((old) => {
        if (old.state !== 'ready') return old;
        return isHeld()
          ? { ...old, held: unknownOf(old.items, data) }
          : { ...old, items: merged(old.items, data), held: [] };
      });
    };
    const stop = subscribe(({ type }) => {
      if (type !== 'capture.stored' && type !== 'capture.failed' && type !== 'capture.timed_out') return;
      timer ??= setTimeout(() => void refresh(), REFRESH_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [first, isHeld]);
  useEffect(
    () => onRemoved((id) => setList((old) => ({ ...old, items: old.items.filter((each) => each.id !== id) }))),
    [],
  );

  return {
    items: list.items,
    state: list.state,
    error: list.error,
    isComplete: list.state === 'ready' && list.next === undefined,
    waiting: list.held.length,
    loadMore: () => {
      const { next } = current.current;
      if (next !== undefined) void read(next, abort.current.signal);
    },
    reload: () => setAttempt((count) => count + 1),
    replace,
    release: () => setList((old) => ({ ...old, items: merged(old.items, old.held), held: [] })),
  };
}

function unknownOf(items: readonly Result[], found: readonly Result[]): readonly Result[] {
  const known = new Set(items.map(({ id }) => id));
  return found.filter(({ id }) => !known.has(id));
}

/** Merges both lists without duplicates, in the order of the list. A found capture that took long is not the newest. */
function merged(items: readonly Result[], found: readonly Result[]): readonly Result[] {
  const [end, next] = [items.at(-1), found[0]];
  // The next page. Without this case, each page would compare its records with all that were read before.
  if (end !== undefined && next !== undefined && byTime(end, next) < 0) return [...items, ...found];
  const added = unknownOf(items, found);
  if (added.length === 0) return items;
  return [...items, ...added].sort(byTime);
}

function byTime(a: Result, b: Result): number {
  return a.probed_at === b.probed_at ? b.id - a.id : a.probed_at < b.probed_at ? 1 : -1;
}
