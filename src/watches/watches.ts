import { randomUUID } from 'node:crypto';
import type { Client } from '../capture/client.ts';
import { CapstanError } from '../capture/errors.ts';
import type { Recipients, WatchEvent, WatchNews } from '../capture/events.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest, WatchRequest } from '../capture/request.ts';
import { STORED_LIMITS } from '../capture/stored-limits.ts';
import type { Watch, WatchRun } from '../capture/watch.ts';
import { isAway } from '../storage/failures/is-away.ts';
import { repeatPass } from '../storage/passes/repeated-pass.ts';
import {
  type Finished,
  MAX_LEASED_OF_HOST,
  type Page,
  type StoredRun,
  type StoredWatch,
  type TakenWatch,
  WATCH_LEASE_MS,
  type WatchChange,
  type WatchesWanted,
  type WatchStore,
} from '../storage/ports/watch-store.ts';
import { makeRun, type RunParts } from './make-run.ts';
import { dueAfterChange, nextDue } from './next-due.ts';
import { watchOf } from './shown-watch.ts';
import {
  type DecidedRun,
  NO_PROGRESS,
  type Progress,
  packProgress,
  packRun,
  packSummary,
  packWatch,
  requestOf,
  type Summary,
  unpackDecided,
  unpackProgress,
  unpackRun,
  unpackSummary,
  unpackWritten,
  type Written,
} from './stored-form.ts';
import { eventsOf, newsOfRuns, progressAfter } from './watch-events.ts';

/** Interval between searches for due watches, in milliseconds. */
const PASS_MS = 1_000;
const RENEWAL_MS = WATCH_LEASE_MS / 3;
/** Interval of looking whether the clock was set back, in milliseconds. */
const HASTEN_MS = 60_000;
/** Delay before a run that the service could not make is tried again, in milliseconds. */
const LATER_MS = 10_000;

export interface WatchesOptions extends Pick<RunParts, 'artifacts' | 'comparisons'> {
  readonly store: WatchStore;
  /** False without a database; watches are then unavailable. */
  readonly enabled: boolean;
  /** Throws a `CapstanError` for a target that may not be captured, as far as its URL shows it. */
  readonly screen: (request: CaptureRequest) => void;
  /** Whether the API key of a client still exists and may capture. Otherwise its watches make no runs. */
  readonly serves: (by: Client) => boolean;
  /** Makes one capture. Rejects with a `CapstanError` when it is not admitted. */
  readonly capture: (request: CaptureRequest, by: Client) => Promise<CaptureOutcome>;
  /** Removes captures that no run needs any more. */
  readonly remove: (captures: readonly number[]) => Promise<void>;
  /** Emits an event of a run, and tells the receivers of it, except `watch.run`. */
  readonly announce: (event: WatchEvent, to: Recipients) => void;
  /** Resolves when the events so far are stored, if they can be. */
  readonly kept: () => Promise<void>;
  /** Returns the current maximum number of concurrent runs. */
  readonly atOnce: () => number;
  readonly ids: () => number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Called with failures of background work. */
  readonly report: (error: unknown) => void;
}

/** The definition of a watch, and the body from which it was made. */
type WatchWanted = WatchRequest & { readonly written: Written };

/** The stored fields of a changed watch. */
type Changed = Pick<WatchChange, 'summary' | 'definition' | 'dueAt'>;

export type Watches = ReturnType<typeof createWatches>;

/**
 * Runs the watches of the store that are due, including those that other processes added. Every method rejects as a
 * `WatchStore` does.
 */
export function createWatches(options: WatchesOptions) {
  const { store, enabled, screen, serves, capture, remove, announce, kept, atOnce, ids, clock, report } = options;
  const running = new Map<string, TakenWatch>();
  const ended = new Set<Promise<void>>();
  /** Keys with a run that the service could not make: their other runs begin after the next interval. */
  const refused = new Set<string>();
  /** Becomes false when nothing is due for keys with less than half of the runs; true again at the next interval. */
  let othersMayWait = true;
  let stopped = false;

  /** Returns the number of runs under way for each host, or key. */
  const counts = (of: 'host' | 'apiKeyName'): ReadonlyMap<string, number> =>
    new Map([...Map.groupBy(running.values(), (watch) => watch[of])].map(([name, watches]) => [name, watches.length]));
  /** Returns the hosts, or keys, of which `max` or more runs are under way. */
  const busy = (of: 'host' | 'apiKeyName', max: number): string[] =>
    [...counts(of)].filter(([, count]) => count >= max).map(([name]) => name);

  /** Begins runs, and returns their number. Keys that have half of the runs wait for the others. */
  const take = async (): Promise<number> => {
    const [room, half] = [atOnce() - running.size, Math.ceil(atOnce() / 2)];
    const due = { now: clock(), exceptHosts: busy('host', MAX_LEASED_OF_HOST) };
    const busyKeys = busy('apiKeyName', half);
    let taken: readonly TakenWatch[] = [];
    if (othersMayWait) {
      // So many that no key exceeds half in this step. Keys that have half take only what the others leave.
      const held = [...counts('apiKeyName').values()].filter((count) => count < half);
      const owners = tokens(Math.min(room, half - Math.max(0, ...held)));
      taken = await store.take(owners, { ...due, exceptKeys: [...busyKeys, ...refused] });
      if (taken.length === 0 && busyKeys.length > 0) othersMayWait = false;
    }
    if (!othersMayWait) taken = await store.take(tokens(room), { ...due, exceptKeys: [...refused] });
    for (const watch of taken) {
      running.set(watch.owner, watch);
      begin(watch.owner, watch);
    }
    return taken.length;
  };
  const takeAll = async (): Promise<void> => {
    while (!stopped && running.size < atOnce() && (await take()) > 0);
  };
  const failed = (error: unknown): void => {
    if (!isAway(error)) report(error);
  };
  const searches = repeatPass({
    run: () => takeAll().catch(failed),
    onInterval: () => {
      refused.clear();
      othersMayWait = true;
    },
    intervalMs: PASS_MS,
  });

  const begin = (token: string, watch: TakenWatch): void => {
    const renewal = setInterval(() => {
      // A lease that is lost is noticed when the run is stored.
      store.renew(watch.id, token, clock()).catch(() => undefined);
    }, RENEWAL_MS);
    const run = perform(token, watch)
      // The lease ends, and another run is made.
      .catch(failed)
      .then(() => {
        clearInterval(renewal);
        running.delete(token);
        ended.delete(run);
        void searches.pass();
      });
    ended.add(run);
  };

  const perform = async (token: string, watch: TakenWatch): Promise<void> => {
    const { id } = watch;
    const summary = unpackSummary(watch.summary);
    const before = unpackProgress(watch.progress);
    if (watch.run === undefined && !serves(summary.by)) {
      await store.finish(id, token, after(watch, before));
      return;
    }
    const decided =
      watch.run === undefined ? await firstOf(token, watch, summary, before) : unpackDecided(watch.run.body);
    if (decided === undefined) return;
    const { callback, notify } = summary;
    for (const event of eventsOf(id, summary, before, decided.run)) announce(event, { callback, notify });
    // A process that is killed before that leaves the run to another one, which announces it.
    await kept();
    const progress = progressAfter(before, decided, summary.rules);
    const old = (await store.finish(id, token, after(watch, progress))) ?? [];
    await remove(unneeded(old, summary, progress));
  };

  /** Returns how a watch goes on after a time at which it was due. A time that a client set meanwhile is kept. */
  const after =
    ({ id, dueAt }: TakenWatch, progress: Progress) =>
    (now: StoredWatch): Finished => {
      const { rules, isPaused } = unpackSummary(now.summary);
      const next = isPaused ? null : nextDue(id, rules, Math.max(clock(), dueAt), progress.failures);
      return {
        dueAt: now.dueAt === dueAt ? next : now.dueAt,
        plannedAt: clock(),
        progress: packProgress(progress),
        keep: rules.keep,
      };
    };

  /** Makes and stores the run; undefined when it was not made, or is not wanted any more. */
  const firstOf = async (
    token: string,
    { id, dueAt, apiKeyName, definition }: TakenWatch,
    summary: Summary,
    before: Progress,
  ): Promise<DecidedRun | undefined> => {
    const made = await makeRun(summary, before, {
      ...options,
      capture: async () => capture(requestOf(definition, summary), summary.by),
    });
    if (made.run === undefined) {
      refused.add(apiKeyName);
      await store.release(id, token, clock() + LATER_MS);
      await remove(made.spare);
      return undefined;
    }
    // No two runs of a watch have the same time, also after the clock was set back.
    const due = Math.max(dueAt, before.lastRun === null ? 0 : Date.parse(before.lastRun.due) + 1);
    const run = { due: iso(due), at: iso(clock()), ...made.run };
    const decided = { run, held: made.held ?? [] };
    const isStored = await store.put(id, token, { dueAt: due, body: packRun(decided) });
    await remove(isStored || run.capture === null ? made.spare : [...made.spare, run.capture]);
    return isStored ? decided : undefined;
  };

  const hasten = async (): Promise<void> => {
    const now = clock();
    await store.hasten(now, (id, every) => nextDue(id, { every }, now));
  };
  const hastenings = repeatPass({ run: () => hasten().catch(failed), intervalMs: HASTEN_MS });
  if (enabled) for (const passes of [searches, hastenings]) passes.start();

  /** Returns a watch of an API key, or of any. */
  const get = async (id: number, ofKey?: string): Promise<Watch | undefined> => {
    const stored = await store.get(id, ofKey);
    return stored && watchOf(stored);
  };
  /** Changes what is stored, and returns the watch. */
  const change = async (
    id: number,
    by: (summary: Summary, stored: StoredWatch) => Changed | Promise<Changed>,
  ): Promise<Watch | undefined> => {
    const changed = await store.change(id, async (stored) => {
      const wanted = await by(unpackSummary(stored.summary), stored);
      const { host, rules, by: client } = unpackSummary(wanted.summary);
      const { every: everyMs = null, labels } = rules;
      return { host, everyMs, labels, isShared: client.owner !== null, ...wanted };
    });
    void searches.pass();
    return changed && watchOf(changed);
  };
  const written = async (id: number): Promise<Written | undefined> => {
    const definition = await store.definition(id);
    return definition === undefined ? undefined : unpackWritten(definition);
  };

  return {
    /** Adds a watch, which is due at once. */
    add: async ({ written, ...wanted }: WatchWanted, by: Client): Promise<Watch> => {
      screen(wanted.request);
      const id = ids();
      const createdAt = clock();
      const stored = {
        id,
        apiKeyName: by.apiKeyName ?? '',
        host: wanted.request.target.host,
        everyMs: wanted.rules.every ?? null,
        dueAt: createdAt,
        ...packWatch(written, wanted, { by, createdAt: iso(createdAt), isPaused: false }),
        progress: packProgress(NO_PROGRESS),
      };
      await store.add({ ...stored, labels: wanted.rules.labels, isShared: by.owner !== null });
      void searches.pass();
      return watchOf(stored);
    },
    get,
    /** Returns a page of watches by id. */
    list: async (wanted: WatchesWanted): Promise<Page<Watch>> => {
      const { items, isCut } = await store.list(wanted);
      return { items: items.map(watchOf), isCut };
    },
    /** Returns the body that a watch was made from. */
    written,
    /**
     * Changes the definition of a watch. Calls `next` again when another process changed it meanwhile. A run under way
     * is dropped, and made again if it was due.
     */
    change: (id: number, next: (written: Written) => WatchWanted) =>
      change(id, async ({ rules, by, createdAt, isPaused }, { dueAt }) => {
        const before = await written(id);
        // It was removed meanwhile.
        if (before === undefined) throw new CapstanError('not_found', `There is no watch with the id ${id}.`);
        const { written: changed, ...wanted } = next(before);
        screen(wanted.request);
        return {
          ...packWatch(changed, wanted, { by, createdAt, isPaused }),
          dueAt: isPaused ? dueAt : dueAfterChange(id, { from: rules, to: wanted.rules }, dueAt, clock()),
        };
      }),
    /** Pauses or resumes a watch. */
    pause: (id: number, isPaused: boolean) =>
      change(id, (summary, { dueAt }) => ({
        summary: packSummary({ ...summary, isPaused }),
        dueAt: isPaused ? null : (dueAt ?? nextDue(id, summary.rules, clock())),
      })),
    /** Lets a watch be due now, paused or not. */
    run: (id: number) => change(id, (_, { summary }) => ({ summary, dueAt: clock() })),
    /** Removes a watch. Its captures are kept. False: there is none. */
    remove: async (id: number) => (await store.remove(id)) !== undefined,
    /** Returns a page of runs that were due before a time, newest first. */
    history: async (id: number, limit: number, before: number): Promise<Page<WatchRun>> => {
      const { items, isCut } = await store.runs(id, limit, before);
      return { items: items.map(({ body }) => unpackRun(body)), isCut };
    },
    /** Returns the news of the kept runs of a watch, newest first. */
    news: async (watch: Watch): Promise<readonly WatchNews[]> => {
      const { items } = await store.runs(watch.id, STORED_LIMITS.watchRuns.count, Number.MAX_SAFE_INTEGER);
      const runs = items.map(({ body }) => unpackRun(body));
      return newsOfRuns(watch, runs, runs.length === watch.runs);
    },
    /** Starts no further runs; resolves when those under way have ended. */
    stop: async (): Promise<void> => {
      stopped = true;
      await Promise.all([searches.stop(), hastenings.stop()]);
      await Promise.all(ended);
    },
  };
}

/** Returns the captures of removed runs that nothing names any more. */
function unneeded(old: readonly StoredRun[], { rules }: Summary, { baseline, latest }: Progress): readonly number[] {
  const needed = new Set([baseline, latest, ...rules.accept]);
  const captures = old
    .map(({ body }) => unpackRun(body))
    // A change is the last run that names the capture before it.
    .flatMap(({ state, capture, before }) => (state === 'changed' ? [capture, before] : [capture]));
  return [...new Set(captures)].filter((id) => id !== null).filter((id) => !needed.has(id));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function tokens(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
