import { iso } from '../capture/basics/values.ts';
import type { Client } from '../capture/client.ts';
import { CapstanError } from '../capture/errors.ts';
import type { WatchNews } from '../capture/events.ts';
import type { CaptureRequest, WatchRequest } from '../capture/request.ts';
import { STORED_LIMITS } from '../capture/stored-limits.ts';
import type { Watch, WatchRun } from '../capture/work/watch.ts';
import type { Page, StoredWatch, WatchChange, WatchesWanted } from '../storage/ports/watch-store.ts';
import { dueAfterChange, nextDue } from './next-due.ts';
import { type DueOptions, runDueWatches } from './run-due-watches.ts';
import { watchOf } from './shown-watch.ts';
import {
  NO_PROGRESS,
  packProgress,
  packSummary,
  packWatch,
  type Summary,
  unpackRun,
  unpackSummary,
  unpackWritten,
  type Written,
} from './stored-form.ts';
import { newsOfRuns } from './watch-events.ts';

export interface WatchesOptions extends DueOptions {
  /** Throws a `CapstanError` for a target that may not be captured, as far as its URL shows it. */
  readonly screen: (request: CaptureRequest) => void;
  readonly ids: () => number;
}

/** The definition of a watch, and the body from which it was made. */
type WatchWanted = WatchRequest & { readonly written: Written };

/** The stored fields of a changed watch. */
type Changed = Pick<WatchChange, 'summary' | 'definition' | 'dueAt'>;

export type Watches = ReturnType<typeof createWatches>;

/** Adds, changes and lists watches, and runs those that are due. Every method rejects as a `WatchStore` does. */
export function createWatches(options: WatchesOptions) {
  const { store, screen, ids, clock } = options;
  const due = runDueWatches(options);

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
      return { host, everyMs, labels, keysShare: client.owner !== null, ...wanted };
    });
    due.search();
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
      await store.add({ ...stored, labels: wanted.rules.labels, keysShare: by.owner !== null });
      due.search();
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
    stop: due.stop,
  };
}
