import { Subject } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { BatchItem } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { isAway } from '../storage/is-away.ts';
import type { JobKind, JobRecord, TakenJob } from '../storage/job-store.ts';
import { type RunOptions, runJob } from './run-job.ts';
import { type JobManner, packWork, unpackItem } from './stored-form.ts';

export type { JobManner };

/** How soon work is looked for that another process left, or that was not admitted. */
const PASS_MS = 2_000;
const PRUNE_MS = 60_000;

export interface JobsOptions extends RunOptions {
  /** False: there is no database, and never anything to do. */
  readonly enabled: boolean;
  /** Jobs that may be run at once, now. */
  readonly atOnce: () => number;
  readonly ids: () => string;
  /** Hears what nobody waits for. */
  readonly report: (error: unknown) => void;
}

/** Work that is done without anyone waiting for it. Every method rejects as a `JobStore` does. */
export interface Jobs {
  /** Resolves when it would survive a crash. */
  add(kind: JobKind, requests: readonly CaptureRequest[], manner?: JobManner): Promise<JobRecord>;
  get(id: string): Promise<JobRecord | undefined>;
  /** At most `limit` outcomes with an index above `after`, smallest first. */
  results(id: string, limit: number, after?: number): Promise<readonly BatchItem[]>;
  /** Cancels what is not finished. Undefined: there is no such job. */
  cancel(id: string): Promise<JobRecord | undefined>;
  /** Begins nothing more, and resolves when what was begun has ended; what is left is done after the next start. */
  stop(): Promise<void>;
}

/** Runs what the store holds, whoever put it there. */
export function createJobs(options: JobsOptions): Jobs {
  const { store, enabled, atOnce, ids, report } = options;
  const running = new Map<string, Subject<void>>();
  const ended = new Set<Promise<void>>();
  const owner = ids();
  let stopped = false;
  let looking: Promise<void> | undefined;

  /** Takes what there is to do while there is room. The database may be away: then it is looked for again. */
  const takeAll = async (): Promise<void> => {
    try {
      while (!stopped && running.size < atOnce()) {
        const job = await store.take(owner);
        if (job === undefined) break;
        // One that could not be renewed for so long that it was free is still ours.
        if (!running.has(job.id)) begin(job);
      }
    } catch (error) {
      if (!isAway(error)) report(error);
    }
  };
  const look = (): void => {
    if (!enabled || stopped) return;
    looking ??= takeAll().finally(() => {
      looking = undefined;
    });
  };

  const begin = (job: TakenJob): void => {
    const cancelled$ = new Subject<void>();
    running.set(job.id, cancelled$);
    const run = runJob(job, owner, cancelled$, () => stopped, options)
      .catch(report)
      .then((again) => {
        running.delete(job.id);
        ended.delete(run);
        if (again !== 'later') look();
      });
    ended.add(run);
  };

  const looks = setInterval(look, PASS_MS);
  const prunes = setInterval(() => {
    if (enabled) store.prune().catch((error: unknown) => isAway(error) || report(error));
  }, PRUNE_MS);
  looks.unref();
  prunes.unref();
  look();

  return {
    add: async (kind, requests, manner) => {
      if (stopped) throw new CapstanError('shutting_down');
      const id = ids();
      await store.add({ id, kind, total: requests.length, work: await packWork({ requests, ...manner }) });
      const job = await store.get(id);
      if (job === undefined) throw new Error(`job ${id} was kept, and is not there`);
      look();
      return job;
    },
    get: (id) => store.get(id),
    results: async (id, limit, after) => (await store.results(id, limit, after)).map(unpackItem),
    cancel: async (id) => {
      const job = await store.cancel(id);
      running.get(id)?.next();
      return job;
    },
    stop: async () => {
      stopped = true;
      clearInterval(looks);
      clearInterval(prunes);
      await looking;
      await Promise.all(ended);
    },
  };
}
