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
  readonly waiting: Waiting;
  loadMore(): void;
  reload(): void;
  /** Shows the new state of a record. Fields that only lists have stay as they are. */
  readonly replace: (record: Result) => void;
  /** Shows the captures that have arrived while the list was held. */
  release(): void;
}

/** Captures that have arrived while the list was held. */
interface Waiting {
  readonly count: number;
  /** Whether there may be more. */
  readonly isMore: boolean;
}

type Page = Awaited<ReturnType<typeof readPage>>;

interface List {
  /** Path of its first page. */
  readonly path: string;
  readonly items: readonly Result[];
  readonly state: Results['state'];
  readonly error?: unknown;
  readonly next?: string | undefined;
  readonly waiting: Waiting;
}

const NONE: Waiting = { count: 0, isMore: false };
const nothing = (path: string): List => ({ path, items: [], state: 'pending', waiting: NONE });

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
        const { data, next } = await readPage(path, signal);
        setList((old) => {
          if (path === first) return { ...old, items: data, next, state: 'ready' };
          // The list has started anew meanwhile.
          if (path !== old.next) return old;
          return { ...old, items: [...old.items, ...data], next, state: 'ready' };
        });
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

  const refreshes = useRef({ begun: 0, ended: 0 });
  const refresh = useCallback(
    async (isWanted: boolean) => {
      const { signal } = abort.current;
      const { current: counts } = refreshes;
      counts.begun += 1;
      const { begun } = counts;
      const page = await readPage(first, signal).catch(() => undefined);
      // A request that began later may have ended before.
      if (page === undefined || signal.aborted || begun < counts.ended) return;
      counts.ended = begun;
      const isShown = isWanted || !isHeld();
      setList((old) => {
        if (old.state !== 'ready') return old;
        if (isShown) return { ...old, ...withNewest(old, page), waiting: NONE };
        const known = new Set(old.items.map(({ id }) => id));
        const count = page.data.filter(({ id }) => !known.has(id)).length;
        return { ...old, waiting: { count, isMore: page.next !== undefined && count === page.data.length } };
      });
    },
    [first, isHeld],
  );
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void refresh(false);
      }, REFRESH_MS);
    };
    const stop = subscribe(({ type }) => {
      if (type === 'capture.stored' || type === 'capture.failed' || type === 'capture.timed_out' || type === 'gap')
        ask();
    });
    const stopRemovals = onRemoved((id) => {
      setList((old) => ({ ...old, items: old.items.filter((each) => each.id !== id) }));
      // It may be one of those that wait.
      ask();
    });
    return () => {
      stop();
      stopRemovals();
      clearTimeout(timer);
    };
  }, [refresh]);

  return {
    items: list.items,
    state: list.state,
    error: list.error,
    isComplete: list.state === 'ready' && list.next === undefined,
    waiting: list.waiting,
    loadMore: () => {
      const { next } = current.current;
      if (next !== undefined) void read(next, abort.current.signal);
    },
    reload: () => setAttempt((count) => count + 1),
    replace,
    release: () => void refresh(true),
  };
}

/**
 * Returns the list with its first page read again, without what has left that page. When the page does not reach the
 * captures of the list, there may be others between them: the list starts anew with the page.
 */
function withNewest({ items, next }: List, page: Page): Pick<List, 'items' | 'next'> {
  const [newest, end] = [items[0], page.data.at(-1)];
  const isReached = newest !== undefined && end !== undefined && byTime(newest, end) <= 0;
  const older = isReached && page.next !== undefined ? items.filter((each) => byTime(end, each) < 0) : [];
  return older.length === 0 ? { items: page.data, next: page.next } : { items: [...page.data, ...older], next };
}

function byTime(a: Result, b: Result): number {
  return a.probed_at === b.probed_at ? b.id - a.id : a.probed_at < b.probed_at ? 1 : -1;
}
