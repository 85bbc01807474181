import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { catchError, map, type Observable, of, Subject, takeUntil } from 'rxjs';
import type { BatchItem, CaptureOutcome, CaptureRequest } from './domain.ts';
import { CapstanError, toFailure } from './errors.ts';
import {
  JOB_LEASE_MS,
  type JobItem,
  type JobKind,
  type JobRecord,
  type JobStore,
  type TakenJob,
} from './storage/job-store.ts';
import { outcomeOfError } from './streams/outcome.ts';

/** Also how long a cancelled job may go on in another process. */
const RENEWAL_MS = JOB_LEASE_MS / 4;
/** How soon work is looked for that another process left, or that was not admitted. */
const LOOK_MS = 2_000;
const PRUNE_MS = 60_000;
const RETRY_MS = 1_000;
/** Outcomes that wait for a database that is away, before nothing more is captured for the job. */
const MOST_UNWRITTEN = 500;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export interface JobsOptions {
  readonly store: JobStore;
  /** False: there is no database, and never anything to do. */
  readonly enabled: boolean;
  readonly submit: (request: CaptureRequest) => Observable<CaptureOutcome>;
  readonly submitBatch: (
    requests: Iterable<CaptureRequest> | AsyncIterable<CaptureRequest>,
    concurrency: number | undefined,
    size: number,
    callback: string | undefined,
  ) => Observable<BatchItem>;
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

/** How a batch is to be done. */
export interface JobManner {
  readonly concurrency?: number | undefined;
  /** Is told of the batch's end; of the end of each part, when a stop of the service divides it. */
  readonly callback?: string | undefined;
}

interface Work extends JobManner {
  readonly requests: readonly CaptureRequest[];
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

  const looks = setInterval(look, LOOK_MS);
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
      const work: Work = { requests, ...manner };
      await store.add({ id, kind, total: requests.length, work: await compress(JSON.stringify(work)) });
      const job = await store.get(id);
      if (job === undefined) throw new Error(`job ${id} was kept, and is not there`);
      look();
      return job;
    },
    get: (id) => store.get(id),
    results: async (id, limit, after) => (await store.results(id, limit, after)).map(itemOf),
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

/** One job to its end, or to ours. `later`: it was not admitted, and is not to be tried again at once. */
async function runJob(
  job: TakenJob,
  owner: string,
  cancelled$: Subject<void>,
  stopped: () => boolean,
  { store, submit, submitBatch }: JobsOptions,
): Promise<'done' | 'later'> {
  const renewal = setInterval(() => {
    store.renew(job.id, owner).then(
      (held) => held || cancelled$.next(),
      // Away: the lease may run out, which the next renewal finds.
      () => undefined,
    );
  }, RENEWAL_MS);
  try {
    const { requests, concurrency, callback } = await readWork(job.work);
    const done = new Set(job.done);
    const left = [...requests.keys()].filter((index) => !done.has(index));
    const outcomes = new OutcomeWriter((items) => store.put(job.id, owner, items));
    let unfinished = left.length;
    if (unfinished === 0) {
      await store.finish(job.id, owner, { state: 'completed' });
      return 'done';
    }

    async function* elements(): AsyncGenerator<CaptureRequest, void, undefined> {
      for (const index of left) {
        await outcomes.room();
        const request = requests[index];
        if (stopped() || request === undefined) return;
        yield request;
      }
    }
    const [only] = left.map((index) => requests[index]);
    const items$ =
      job.kind === 'screenshot' && only !== undefined
        ? asBatch(only, submit)
        : submitBatch(elements(), concurrency, left.length, callback);
    await new Promise<void>((resolve, reject) => {
      items$.pipe(takeUntil(cancelled$)).subscribe({
        next: ({ index, url, outcome }) => {
          // Neither says anything of the target: it is tried again.
          if (isInterrupted(outcome)) return;
          unfinished -= 1;
          const body = JSON.stringify({ url, outcome });
          outcomes.add({ index: left[index] ?? index, failed: outcome.state !== 'stored', body });
        },
        error: reject,
        complete: resolve,
      });
    });
    await outcomes.written(stopped);
    if (unfinished === 0 && outcomes.waiting === 0) await store.finish(job.id, owner, { state: 'completed' });
    else await store.release(job.id, owner);
    return 'done';
  } catch (thrown) {
    if (isAway(thrown)) return 'later';
    const failure = toFailure(thrown);
    if (failure.code === 'queue_full' || failure.code === 'shutting_down') {
      await store.release(job.id, owner);
      return 'later';
    }
    await store.finish(job.id, owner, { state: 'failed', failure });
    throw thrown;
  } finally {
    clearInterval(renewal);
  }
}

/** Writes outcomes as they come, and again for as long as the database is away. */
class OutcomeWriter {
  readonly #write: (items: readonly JobItem[]) => Promise<void>;
  readonly #waiting: JobItem[] = [];
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(write: (items: readonly JobItem[]) => Promise<void>) {
    this.#write = write;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(item: JobItem): void {
    this.#waiting.push(item);
    this.#writing ??= this.#writeSome()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#waiting.length >= MOST_UNWRITTEN) await this.#again();
  }

  /** Resolves when nothing waits, or when nobody may wait any longer. */
  async written(givenUp: () => boolean): Promise<void> {
    await this.#writing;
    while (this.#waiting.length > 0 && !givenUp()) await this.#again();
  }

  async #again(): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#waiting.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    await this.#writeSome();
  }

  async #writeSome(): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting.slice(0, MOST_UNWRITTEN);
      try {
        await this.#write(items);
      } catch (error) {
        if (isAway(error)) return;
        throw error;
      }
      this.#waiting.splice(0, items.length);
    }
  }
}

/** A single capture, its refusal an outcome unless there was only no room. */
function asBatch(
  request: CaptureRequest,
  submit: (request: CaptureRequest) => Observable<CaptureOutcome>,
): Observable<BatchItem> {
  return submit(request).pipe(
    catchError((thrown: unknown) => {
      if (thrown instanceof CapstanError && (thrown.code === 'queue_full' || thrown.code === 'shutting_down'))
        throw thrown;
      return of(outcomeOfError(thrown));
    }),
    map((outcome) => ({ index: 0, url: request.url, outcome })),
  );
}

function isInterrupted(outcome: CaptureOutcome): boolean {
  return outcome.state === 'cancelled' || ('failure' in outcome && outcome.failure.code === 'shutting_down');
}

function isAway(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'database_unavailable';
}

/** As `add` wrote it. */
async function readWork(bytes: Uint8Array): Promise<Work> {
  return JSON.parse((await decompress(bytes)).toString());
}

/** As `runJob` wrote it. */
function itemOf({ index, body }: JobItem): BatchItem {
  const { url, outcome }: Pick<BatchItem, 'url' | 'outcome'> = JSON.parse(body);
  return { index, url, outcome };
}
