import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call, queryOf } from '../../api/client.ts';
import { subscribe } from '../../api/events.ts';
import type { CapstanEvent, Watch } from '../../api/types.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

/** Number of watches of a page. */
const PAGE = 50;
/** Number of runs that each watch is listed with. */
export const MAX_RUNS = 40;
/** Delay of reading a watch after its run, in milliseconds: the time of the next run is stored after the event. */
const AFTER_RUN_MS = 1000;

type WatchRun = Extract<CapstanEvent, { type: 'watch.run' }>;

/** The path of the first page of watches, with their newest runs. */
export const WATCHES = `/watches${queryOf({ limit: PAGE, recent: MAX_RUNS })}`;

/** The watches of the caller, page by page: one request for each page. Runs that are made meanwhile are added. */
export function useWatches() {
  const [watches, setWatches] = useState<readonly Watch[]>();
  const [next, setNext] = useState<string>();
  const { error, attempt } = useAttempt();
  /** Timers by the ids of the watches that will be read again. */
  const timers = useRef(new Map<number, ReturnType<typeof setTimeout>>());
  const listed = useRef(watches);
  listed.current = watches;

  const read = useCallback(
    (path: string, before: readonly Watch[]) =>
      attempt(async () => {
        const page = await call<readonly Watch[]>(path);
        const known = new Set(before.map(({ id }) => id));
        setWatches([...before, ...page.data.filter(({ id }) => !known.has(id))]);
        setNext(page.next);
      }, before),
    [attempt],
  );
  const reload = useCallback(() => void read(WATCHES, []), [read]);
  useEffect(reload, [reload]);

  /** Reads what is known of a watch again. Its runs come with their events. */
  const refresh = useCallback(async (id: number) => {
    const { data } = await call<Watch>(`/watches/${id}`).catch(() => ({ data: undefined }));
    if (data === undefined) return;
    setWatches((old) => old?.map((watch) => (watch.id === id ? { ...withRun(watch, data.last_run), ...data } : watch)));
  }, []);

  useEffect(() => {
    const { current: pending } = timers;
    const end = subscribe((event) => {
      if (event.type === 'gap') return reload();
      if (event.type !== 'watch.run') return;
      setWatches((old) => old?.map((watch) => (watch.id === event.watch ? afterRun(watch, event) : watch)));
      const { watch: id } = event;
      // Many runs can come at once, of this watch and of others, when a hidden tab is shown again.
      if (pending.has(id) || !listed.current?.some((watch) => watch.id === id)) return;
      const timer = setTimeout(() => {
        pending.delete(id);
        void refresh(id);
      }, AFTER_RUN_MS);
      pending.set(id, timer);
    });
    return () => {
      end();
      for (const timer of pending.values()) clearTimeout(timer);
      pending.clear();
    };
  }, [refresh, reload]);

  return {
    watches,
    error,
    reload,
    refresh,
    /** Shows a watch that was just added, before further pages. */
    add: (watch: Watch) => setWatches((old = []) => [...old, watch]),
    /** Shows a watch no more. */
    remove: (id: number) => setWatches((old) => old?.filter((watch) => watch.id !== id)),
    /** Reads the next page; undefined on the last one. */
    more: next === undefined ? undefined : () => void read(next, watches ?? []),
  };
}

/** Returns the watch after a run that an event tells of, as far as the event tells it. */
function afterRun(watch: Watch, { run }: WatchRun): Watch {
  const next = withRun(watch, run);
  if (next === watch) return watch;
  return { ...next, runs: watch.runs + 1, changes: watch.changes + (run.state === 'changed' ? 1 : 0), last_run: run };
}

/** Adds a run to the newest ones, unless it is known. */
function withRun(watch: Watch, run: Watch['last_run']): Watch {
  const { recent_runs: runs = [] } = watch;
  if (run === null || runs.some(({ due }) => due === run.due)) return watch;
  const { regions: _regions, ...brief } = run;
  return { ...watch, recent_runs: [brief, ...runs].slice(0, MAX_RUNS) };
}
