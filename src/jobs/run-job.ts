import {
  catchError,
  concatMap,
  from,
  lastValueFrom,
  map,
  mergeMap,
  type Observable,
  of,
  type Subject,
  takeUntil,
} from 'rxjs';
import { ANY_CLIENT, type Client } from '../capture/client.ts';
import { CapstanError, failure, toFailure } from '../capture/errors.ts';
import type { Recipients } from '../capture/events.ts';
import { type BatchItem, type CaptureOutcome, outcomeOfError } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { HostVisits } from '../scans/host-visits.ts';
import type { ScanCaptures, ScanItem } from '../scans/scan-items.ts';
import { packOutcome, recordedOutcome } from '../scans/stored-outcome.ts';
import { isAway, unlessAway } from '../storage/failures/store-errors.ts';
import type { JobStore, TakenJob } from '../storage/ports/job-store.ts';
import { itemsOf } from './job-items.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { packItem, unpackWork, type Work } from './stored-form.ts';

export interface RunOptions {
  readonly store: JobStore;
  readonly submit: (request: CaptureRequest, by: Client) => Observable<CaptureOutcome>;
  readonly submitBatch: (
    requests: Iterable<CaptureRequest> | AsyncIterable<CaptureRequest>,
    settings: {
      readonly concurrency: number | undefined;
      readonly size: number;
      readonly to: Recipients | undefined;
      readonly by: Client & { readonly id?: string };
    },
  ) => Observable<BatchItem>;
  readonly captures: ScanCaptures;
  /** Called with unexpected errors. */
  readonly report: (error: unknown) => void;
}

/** `released`: another run continues the job. `later`: the job was not admitted, and should not be retried at once. */
export type JobEnd = 'completed' | 'failed' | 'released' | 'later';

/** A job that runs here. */
interface JobRun extends RunOptions {
  readonly job: TakenJob;
  /** This process, which has the job's lease. */
  readonly owner: string;
  readonly cancelled$: Subject<void>;
  readonly stopping: AbortSignal;
  /** Visits of all scans of this process. */
  readonly visits: HostVisits;
}

/** Runs a job until it ends or the service stops. */
export async function runJob(run: JobRun): Promise<JobEnd> {
  const { job, owner, store, report } = run;
  try {
    const work = await unpackWork(job.work);
    const left = job.total - (await store.progress(job.id)).done;
    const end = await captureItems(work, left, run);
    if (end === 'completed') await store.finish(job.id, owner, { state: end });
    else if (end === 'failed') await store.finish(job.id, owner, { state: end, failure: failure('internal') });
    else await store.release(job.id, owner);
    return end;
  } catch (thrown) {
    if (isAway(thrown)) return 'later';
    const reason = toFailure(thrown);
    if (reason.code === 'queue_full' || reason.code === 'shutting_down') {
      await store.release(job.id, owner);
      return 'later';
    }
    await store.finish(job.id, owner, { state: 'failed', failure: reason });
    report(thrown);
    return 'failed';
  }
}

/** Captures the items of a job that have no outcome yet, and writes their outcomes. `left`: their number. */
async function captureItems(
  work: Work,
  left: number,
  { job, owner, cancelled$, stopping, visits, store, submit, submitBatch, captures }: JobRun,
): Promise<'completed' | 'failed' | 'released'> {
  const { concurrency, callback, notify, by: client = ANY_CLIENT } = work;
  const to = callback === undefined && notify === undefined ? undefined : { callback, notify };
  // A batch without anything left is still run when receivers are told of its end, which a crash may have prevented.
  if (left === 0 && to === undefined) return 'completed';
  const isScan = job.kind === 'scan';
  const outcomes = new OutcomeWriter(
    (items) => store.put(job.id, owner, items),
    () => stopping.aborted,
  );
  let unfinished = left;
  const done = (item: BatchItem): void => {
    unfinished -= 1;
    outcomes.add(isScan ? packOutcome(item) : packItem(item));
  };
  const { items, ended, close } = itemsOf(job, work, store, captures, visits);
  /** Items that are being captured, by their position in this run's batch. */
  const running = new Map<number, ScanItem>();
  let read = 0;
  let isRead = false;
  let isInterruptedOnce = false;
  async function* requests(): AsyncGenerator<CaptureRequest, void, undefined> {
    for await (const item of items) {
      await outcomes.room();
      if (stopping.aborted) return;
      const { index, request, known } = item;
      if (known === undefined) {
        running.set(read, item);
        read += 1;
        yield request;
      } else {
        ended(item, recordedOutcome(known));
        done({ index, url: request.target.url, outcome: recordedOutcome(known) });
      }
    }
    isRead = !stopping.aborted;
  }
  const finish = async ({ index: position, url, outcome }: BatchItem): Promise<void> => {
    const item = running.get(position);
    running.delete(position);
    if (item === undefined) return;
    const isAgain = ended(item, outcome);
    // The item was cancelled, or interrupted by a stop of the service: it has no outcome yet.
    if (isInterrupted(outcome)) {
      isInterruptedOnce = true;
      return;
    }
    if (isScan && outcome.state === 'stored') {
      const { result } = outcome;
      // A capture that was answered by an earlier one is not the scan's own.
      if (isAgain) return result.cached ? undefined : unlessAway(() => captures.remove(result.id));
      const sameAs = await unlessAway(() => captures.sameAs(result));
      done({ index: item.index, url, outcome, ...(sameAs !== undefined && { sameAs }) });
    } else done({ index: item.index, url, outcome });
  };

  const items$ =
    job.kind === 'screenshot'
      ? from(requests()).pipe(concatMap((request) => asBatch(request, (only) => submit(only, client))))
      : submitBatch(requests(), { concurrency, size: left, to, by: { ...client, ...(isScan && { id: job.id }) } });
  stopping.addEventListener('abort', close);
  try {
    await lastValueFrom(items$.pipe(takeUntil(cancelled$), mergeMap(finish)), { defaultValue: undefined });
  } finally {
    stopping.removeEventListener('abort', close);
    close();
  }
  await outcomes.written();
  if (unfinished === 0 && outcomes.waiting === 0) return 'completed';
  // Its list is gone: it would be taken again and again.
  const isGone = isScan && isRead && !isInterruptedOnce && unfinished > 0 && !stopping.aborted;
  return isGone ? 'failed' : 'released';
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
