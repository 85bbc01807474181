import { catchError, map, type Observable, of, type Subject, takeUntil } from 'rxjs';
import { ANY_CLIENT, type Client } from '../capture/client.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import type { BatchItem, CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { isAway } from '../storage/failures/is-away.ts';
import { JOB_LEASE_MS, type JobStore, type TakenJob } from '../storage/ports/job-store.ts';
import { outcomeOfError } from '../streams/outcome.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { packItem, unpackWork } from './stored-form.ts';

/** Interval of lease renewals, in milliseconds. A cancelled job may run this much longer in another process. */
const RENEWAL_MS = JOB_LEASE_MS / 4;

export interface RunOptions {
  readonly store: JobStore;
  readonly submit: (request: CaptureRequest, by: Client) => Observable<CaptureOutcome>;
  readonly submitBatch: (
    requests: Iterable<CaptureRequest> | AsyncIterable<CaptureRequest>,
    concurrency: number | undefined,
    size: number,
    callback: string | undefined,
    by: Client,
  ) => Observable<BatchItem>;
}

/** `released`: another run continues the job. `later`: the job was not admitted, and should not be retried at once. */
export type JobEnd = 'completed' | 'failed' | 'released' | 'later';

/** Runs a job until it ends or the service stops. */
export async function runJob(
  job: TakenJob,
  owner: string,
  cancelled$: Subject<void>,
  stopped: () => boolean,
  { store, submit, submitBatch }: RunOptions,
): Promise<JobEnd> {
  const renewal = setInterval(() => {
    store.renew(job.id, owner).then(
      (held) => held || cancelled$.next(),
      // The database is unavailable. If the lease expires, the next renewal cancels the job here.
      () => undefined,
    );
  }, RENEWAL_MS);
  try {
    const { requests, concurrency, callback, by: client = ANY_CLIENT } = await unpackWork(job.work);
    const done = new Set(job.done);
    const left = [...requests.keys()].filter((index) => !done.has(index));
    const outcomes = new OutcomeWriter((items) => store.put(job.id, owner, items), stopped);
    let unfinished = left.length;
    // An empty batch with a callback is still run, so that its end is reported.
    if (unfinished === 0 && (requests.length > 0 || callback === undefined)) {
      await store.finish(job.id, owner, { state: 'completed' });
      return 'completed';
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
        ? asBatch(only, (request) => submit(request, client))
        : submitBatch(elements(), concurrency, left.length, callback, client);
    await new Promise<void>((resolve, reject) => {
      items$.pipe(takeUntil(cancelled$)).subscribe({
        next: ({ index, url, outcome }) => {
          // The element was cancelled, or interrupted by a stop of the service: it has no outcome yet.
          if (isInterrupted(outcome)) return;
          unfinished -= 1;
          outcomes.add(packItem({ index: left[index] ?? index, url, outcome }));
        },
        error: reject,
        complete: resolve,
      });
    });
    await outcomes.written();
    if (unfinished === 0 && outcomes.waiting === 0) {
      await store.finish(job.id, owner, { state: 'completed' });
      return 'completed';
    }
    await store.release(job.id, owner);
    return 'released';
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

/** Runs a single capture as a batch of one. A refusal becomes its outcome, except `queue_full` and `shutting_down`. */
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
    map((outcome) => ({ index: 0, url: request.target.url, outcome })),
  );
}

function isInterrupted(outcome: CaptureOutcome): boolean {
  return outcome.state === 'cancelled' || ('failure' in outcome && outcome.failure.code === 'shutting_down');
}
