import { randomUUID } from 'node:crypto';
import { iso } from '../capture/basics/values.ts';
import type { Client } from '../capture/client.ts';
import type { Recipients, WatchEvent } from '../capture/events.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { createLeasedWork } from '../storage/passes/leased-work.ts';
import { repeatPass } from '../storage/passes/repeated-pass.ts';
import {
  type Finished,
  MAX_LEASED_OF_HOST,
  type StoredRun,
  type StoredWatch,
  type TakenWatch,
  WATCH_LEASE_MS,
  type WatchStore,
} from '../storage/ports/watch-store.ts';
import { makeRun, type RunParts } from './make-run.ts';
import { nextDue } from './next-due.ts';
import {
  type DecidedRun,
  type Progress,
  packProgress,
  packRun,
  requestOf,
  type Summary,
  unpackDecided,
  unpackProgress,
  unpackRun,
  unpackSummary,
} from './stored-form.ts';
import { eventsOf, progressAfter } from './watch-events.ts';

/** Interval between searches for due watches, in milliseconds. */
const PASS_MS = 1_000;
const RENEWAL_MS = WATCH_LEASE_MS / 3;
/** Interval of looking whether the clock was set back, in milliseconds. */
const HASTEN_MS = 60_000;
/** Delay before a run that the service could not make is tried again, in milliseconds. */
const LATER_MS = 10_000;

export interface DueOptions extends Pick<RunParts, 'artifacts' | 'comparisons'> {
  readonly store: WatchStore;
  /** False without a database; watches are then unavailable. */
  readonly enabled: boolean;
  /** Whether the API key of a client still exists and may capture. Otherwise its watches make no runs. */
  readonly serves: (by: Client) => boolean;
  /** Makes one capture. Rejects with a `CapstanError` when it is not admitted. */
  readonly capture: (request: CaptureRequest, by: Client) => Promise<CaptureOutcome>;
  /** Removes captures that no run needs any more. */
  readonly remove: (captures: readonly number[]) => Promise<void>;
  /** Emits an event of a run, and tells the receivers of it, except `watch.run`. */
  readonly announce: (event: WatchEvent, to: Recipients) => void;
  /** Resolves when the events so far are stored, if they can be. */
  readonly eventsStored: () => Promise<void>;
  /** Returns the current maximum number of concurrent runs. */
  readonly atOnce: () => number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Called with failures of background work. */
  readonly report: (error: unknown) => void;
}

/** Runs the watches of the store that are due, including those that other processes added. */
export function runDueWatches(options: DueOptions) {
  const { store, enabled, serves, capture, remove, announce, eventsStored, atOnce, clock, report } = options;
  /** Keys with a run that the service could not make: their other runs begin after the next interval. */
  const refused = new Set<string>();
  /** Becomes false when nothing is due for keys with less than half of the runs; true again at the next interval. */
  let othersMayWait = true;
  let stopped = false;

  /** Returns the number of runs under way for each host, or key. */
  const counts = (of: 'host' | 'apiKeyName'): ReadonlyMap<string, number> =>
    new Map(
      [...Map.groupBy(work.running.values(), (watch) => watch[of])].map(([name, watches]) => [name, watches.length]),
    );
  /** Returns the hosts, or keys, of which `max` or more runs are under way. */
  const busy = (of: 'host' | 'apiKeyName', max: number): string[] =>
    [...counts(of)].filter(([, count]) => count >= max).map(([name]) => name);

  /** Begins runs, and returns their number. Keys that have half of the runs wait for the others. */
  const take = async (): Promise<number> => {
    const [room, half] = [atOnce() - work.running.size, Math.ceil(atOnce() / 2)];
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
      const { id, owner } = watch;
      // A lease that is lost is noticed when the run is stored. When the run fails, another one is made.
      const renew = () => store.renew(id, owner, clock());
      work.begin(owner, watch, renew, () => perform(owner, watch));
    }
    return taken.length;
  };
  const takeAll = async (): Promise<void> => {
    while (!stopped && work.running.size < atOnce() && (await take()) > 0);
  };
  const work = createLeasedWork<TakenWatch>({
    takeAll,
    onInterval: () => {
      refused.clear();
      othersMayWait = true;
    },
    ...{ intervalMs: PASS_MS, renewalMs: RENEWAL_MS, report },
  });

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
    await eventsStored();
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
  const hastenings = repeatPass({ run: () => hasten().catch(work.failed), intervalMs: HASTEN_MS });
  if (enabled) for (const passes of [work, hastenings]) passes.start();

  return {
    /** Looks for watches that are due now. */
    search: work.search,
    /** Starts no further runs; resolves when those under way have ended. */
    stop: async (): Promise<void> => {
      stopped = true;
      await Promise.all([work.stop(), hastenings.stop()]);
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

function tokens(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
