import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import { Subject } from 'rxjs';
import { ANY_CLIENT } from '../capture/client.ts';
import { CapstanError } from '../capture/errors.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import type { UpstreamProxy } from '../capture/options/proxy.ts';
import type { BatchItem } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { ListReport, ScanSettings } from '../capture/work/scan.ts';
import { createPlaces } from '../fairness/share.ts';
import { HostVisits } from '../scans/host-visits.ts';
import { withCaptures } from '../scans/outcomes-with-captures.ts';
import { storeList } from '../scans/store-list.ts';
import { createLeasedWork } from '../storage/passes/leased-work.ts';
import { repeatPass } from '../storage/passes/repeated-pass.ts';
import {
  JOB_LEASE_MS,
  type JobKind,
  type JobRecord,
  jobKeyOf,
  keyOfJob,
  type NewJob,
  type Page,
  type TakenJob,
} from '../storage/ports/job-store.ts';
import { type RunOptions, runJob } from './run-job.ts';
import { type JobOptions, packWork, unpackItem, type Work } from './stored-form.ts';

export type { JobOptions };

/** Interval between searches for jobs that another process abandoned or that were not admitted, in milliseconds. */
const PASS_MS = 2_000;
/** Interval of lease renewals, in milliseconds. A cancelled job may run this much longer in another process. */
const RENEWAL_MS = JOB_LEASE_MS / 4;
const PRUNE_MS = 60_000;
/** Maximum number of waiting jobs whose requests are remembered: others run outside of the traces of theirs. */
const MAX_TRACED = 10_000;

interface JobsOptions extends RunOptions {
  /** False without a database; jobs are then unavailable. */
  readonly enabled: boolean;
  /**
   * Returns the current maximum number of concurrent jobs. Beyond it, one job runs of each key that has none running,
   * so that no key waits for the long jobs of another.
   */
  readonly atOnce: () => number;
  readonly ids: () => string;
  /** Reads a sitemap that the list of a scan names. Throws a `CapstanError` when it cannot. */
  readonly openSitemap: (
    url: string,
    proxy: UpstreamProxy | undefined,
    signal: AbortSignal,
  ) => AsyncIterable<Uint8Array>;
}

/** Checks that may refuse a scan, before, while and after its list is read. */
type ScanAdmission = {
  readonly requireRate: (targets: number) => void;
  readonly admit: (targets: number) => void;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
};

/** Maximum number of lists that are read at once, of which each key has a share. */
const MAX_READING = 32;

export type Jobs = ReturnType<typeof createJobs>;

/**
 * Captures and batches that run in the background: runs the jobs of the store, including those that other processes
 * added. Every method rejects as a `JobStore` does.
 */
export function createJobs(options: JobsOptions) {
  const { store, enabled, atOnce, ids, report } = options;
  /** Run a function in the context of the request that added the job. */
  const inRequest = new LRUCache<string, ReturnType<typeof AsyncLocalStorage.snapshot>>({ max: MAX_TRACED });
  const owner = ids();
  const visits = new HostVisits();
  const counts = { added: 0, completed: 0, failed: 0, cancelled: 0 };
  const stopping = new AbortController();
  const reading = createPlaces(() => MAX_READING);
  /** Number of jobs that were not admitted. */
  let refused = 0;

  /** Takes jobs while there is room. The next pass tries again if the database is unavailable or a job was refused. */
  const takeAll = async (): Promise<void> => {
    for (const before = refused; !stopping.signal.aborted && refused === before; ) {
      const job = await store.take(owner, { isForIdleKeys: work.running.size >= atOnce() });
      if (job === undefined) break;
      // A job whose lease ran out because it could not be renewed is still running here.
      if (!work.running.has(job.id)) begin(job);
    }
  };
  const work = createLeasedWork<Subject<void>>({ takeAll, intervalMs: PASS_MS, renewalMs: RENEWAL_MS, report });
  const prunes = repeatPass({ run: () => store.prune().catch(work.failed), intervalMs: PRUNE_MS });

  const begin = (job: TakenJob): void => {
    const cancelled$ = new Subject<void>();
    const start = () => runJob({ ...options, job, owner, cancelled$, stopping: stopping.signal, visits });
    const renew = async () => (await store.renew(job.id, owner)) || cancelled$.next();
    work.begin(job.id, cancelled$, renew, async () => {
      const end = await (inRequest.get(job.id)?.(start) ?? start());
      if (end === 'completed' || end === 'failed') counts[end] += 1;
      if (end === 'later') refused += 1;
      else inRequest.delete(job.id);
      return end !== 'later';
    });
  };

  const newId = (asked: JobOptions | undefined): string => {
    if (stopping.signal.aborted) throw new CapstanError('shutting_down');
    return `${jobKeyOf(asked?.by?.apiKeyName ?? null)}${ids()}`;
  };

  const add = async (job: Omit<NewJob, 'work' | 'keysShare'>, content: Work): Promise<JobRecord> => {
    const packed = await packWork(content);
    inRequest.set(job.id, AsyncLocalStorage.snapshot());
    await store.add({ ...job, work: packed, keysShare: (content.by ?? ANY_CLIENT).owner !== null });
    const added = await store.get(job.id);
    if (added === undefined) throw new Error(`job ${job.id} was stored, but cannot be read`);
    counts.added += 1;
    work.search();
    return added;
  };

  if (enabled) for (const passes of [work, prunes]) passes.start();

  return {
    /** Adds a job. Resolves when it is stored and would survive a crash. */
    add: (
      kind: Exclude<JobKind, 'scan'>,
      requests: readonly CaptureRequest[],
      asked?: JobOptions,
    ): Promise<JobRecord> => add({ id: newId(asked), kind, total: requests.length }, { requests, ...asked }),
    /**
     * Adds a scan of the targets of a list, which is stored as it arrives. Each capture has the options of `template`.
     * `requireRate` is called before the list is read and while it is, and `admit` when it was, with the number of
     * targets: what they throw refuses the scan. Rejects as `storeList` does, too, and with the reason of `gone`.
     */
    addScan: async (
      list: AsyncIterable<Uint8Array>,
      template: CaptureRequest,
      asked: JobOptions & { readonly scan: ScanSettings },
      { requireRate, admit, gone }: ScanAdmission,
    ): Promise<{ readonly job: JobRecord; readonly report: ListReport }> => {
      const id = newId(asked);
      const { owner: of } = asked.by ?? ANY_CLIENT;
      requireRate(1);
      const leave = reading.take(of);
      if (leave === undefined) {
        throw new CapstanError('queue_full', `${reading.taken} lists of scans are being read.`, {
          retryAfterSeconds: 5,
        });
      }
      try {
        await store.requireRoom({ id, keysShare: of !== null });
        const signal = AbortSignal.any([stopping.signal, gone]);
        const openSitemap = (url: string) => options.openSitemap(url, template.proxy, signal);
        const { report, bytes } = await storeList(store, id, list, {
          expansion: asked.scan,
          openSitemap,
          signal,
          requireRate,
        });
        try {
          admit(report.targets);
          const facts = { id, kind: 'scan', total: report.targets, listBytes: bytes } as const;
          return { job: await add(facts, { requests: [template], ...asked }), report };
        } catch (error) {
          await store.cancel(id).catch(() => undefined);
          throw error;
        }
      } finally {
        leave();
      }
    },
    get: (id: string): Promise<JobRecord | undefined> => store.get(id),
    /** Returns at most `limit` of the newest jobs: those of an API key, or all. */
    newest: async (limit: number, apiKeyName?: string): Promise<readonly JobRecord[]> => {
      const ids = await store.newest(limit, apiKeyName === undefined ? undefined : jobKeyOf(apiKeyName));
      const found = await Promise.all(ids.map((id) => store.get(id)));
      // A job may have been removed meanwhile.
      return found.filter((job) => job !== undefined);
    },
    /** Returns a page of outcomes with an index above `after`, smallest first. */
    results: async (id: string, limit: number, after?: number): Promise<Page<BatchItem>> => {
      const [job, { items, isCut }] = await Promise.all([store.get(id), store.results(id, limit, after)]);
      if (job?.kind !== 'scan') return { items: items.map(unpackItem), isCut };
      return withCaptures({ items, isCut }, options.captures);
    },
    /** Cancels the unfinished captures of a job. Resolves with undefined when there is no such job. */
    cancel: async (id: string): Promise<JobRecord | undefined> => {
      const before = await store.get(id);
      const job = await store.cancel(id);
      if (job?.state === 'cancelled' && before?.state !== 'cancelled') counts.cancelled += 1;
      work.running.get(id)?.next();
      return job;
    },
    /**
     * Number of jobs of this process since the start by outcome, and of those `running` now. `added` counts requests
     * for jobs; another process may run them.
     */
    get counts(): ServiceStats['jobs'] {
      return { ...counts, running: work.running.size };
    },
    /** Stops starting captures; resolves when those under way have ended. The rest run after the next start. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await Promise.all([work.stop(), prunes.stop()]);
    },
  };
}

/** Returns whether a job belongs to an API key. */
export function isJobOf(apiKeyName: string, id: string): boolean {
  return keyOfJob(id) === jobKeyOf(apiKeyName);
}
