import { randomUUID } from 'node:crypto';
import { catchError, defer, finalize, from, type Observable, switchMap } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import { likeness } from '../capture/options-digest.ts';
import type { Egress } from '../egress/egress.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import type { Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { createBatchRunner } from '../streams/batch.ts';
import type { CapturePipeline } from '../streams/capture-pipeline.ts';
import type { EventStream } from '../streams/events.ts';
import { outlastingOutages } from '../streams/outages.ts';
import { reusing } from '../streams/reuse.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { CaptureService } from './capture-service.ts';
import { findStored } from './find-stored.ts';

export interface IntakeParts {
  readonly pipeline: CapturePipeline;
  readonly egress: Pick<Egress, 'screenLiteral'>;
  readonly webhooks: Pick<Webhooks, 'admit'>;
  readonly storage: Pick<Storage, 'results' | 'artifacts' | 'jobs'>;
  readonly events: EventStream;
  /** Ends what waits for the end of an outage. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

export interface Intake extends Pick<CaptureService, 'submit' | 'submitBatch' | 'admitCallback'> {
  readonly jobs: Jobs;
}

/** How long a capture of a job waits for the end of an outage of the service. */
const MAX_JOB_OUTAGE_MS = 60 * 60 * 1000;

/**
 * What a request passes before the pipeline: its target and its callback are screened, an earlier capture may answer it,
 * and in a batch or a job it waits for the end of an outage.
 */
export function createIntake(parts: IntakeParts): Intake {
  const { pipeline, egress, webhooks, storage, events, stopping, logger } = parts;

  const admitCallback = (callback: string): Observable<void> =>
    whileSubscribed((signal) => webhooks.admit(callback, signal));

  const reuse = reusing({
    submit: pipeline.submit,
    find: (request, maxAgeMs) => findStored(storage, request, maxAgeMs, Date.now()),
    keyOf: (request) => `${likeness(request)} ${request.timeoutMs} ${request.target.url}`,
    events,
  });

  const submit: CapturePipeline['submit'] = (request, options) =>
    defer(() => {
      const refusal = egress.screenLiteral(request.target.parsed);
      if (refusal !== null) {
        return pipeline.refuse(request, new CapstanError(refusal.code, refusal.reason), options?.batch);
      }
      const { callback, ...rest } = request;
      if (callback === undefined) return reuse(request, options);
      // Before admission, so that a slow name server holds no slot.
      return admitCallback(callback).pipe(
        catchError((error: unknown) => pipeline.refuse(rest, asCapstanError(error), options?.batch)),
        switchMap(() => reuse(request, options)),
      );
    });

  const batchesOf = (submitOne: CapturePipeline['submit']) =>
    createBatchRunner({ pipeline, submit: submitOne, events, ids: randomUUID });
  const runBatch = batchesOf(outlastingOutages({ submit, stopping }));
  const submitPatiently = outlastingOutages({ submit, limitMs: MAX_JOB_OUTAGE_MS, stopping });

  return {
    submit,
    submitBatch: (elements, concurrency, size, callback) =>
      callback === undefined
        ? runBatch(elements, concurrency, size)
        : admitCallback(callback).pipe(switchMap(() => runBatch(elements, concurrency, size, callback))),
    admitCallback,
    jobs: createJobs({
      store: storage.jobs,
      enabled: storage.results.kind !== 'none',
      submit: submitPatiently,
      submitBatch: batchesOf(submitPatiently),
      atOnce: () => pipeline.limits.maxConcurrent,
      ids: randomUUID,
      report: (error) => logger.error({ err: error }, 'a job failed'),
    }),
  };
}

/** Work that ends when its subscriber unsubscribes. */
function whileSubscribed<T>(work: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return defer(() => {
    const gone = new AbortController();
    return from(work(gone.signal)).pipe(finalize(() => gone.abort()));
  });
}

function asCapstanError(error: unknown): CapstanError {
  return error instanceof CapstanError ? error : new CapstanError('internal', undefined, { cause: error });
}
