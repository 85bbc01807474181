import { randomUUID } from 'node:crypto';
import {
  catchError,
  concat,
  concatMap,
  defer,
  finalize,
  from,
  ignoreElements,
  map,
  type Observable,
  switchMap,
} from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import { likeness } from '../../capture/options/options-digest.ts';
import type { ServiceConfig } from '../../config/slices.ts';
import { createJobs } from '../../jobs/jobs.ts';
import { createBatchRunner, type RunBatch } from '../../streams/batch.ts';
import type { Submit } from '../../streams/capture-pipeline.ts';
import { outlastingOutages } from '../../streams/outages.ts';
import { reusing } from '../../streams/reuse.ts';
import type { CaptureService } from '../capture-service.ts';
import type { Parts } from '../parts.ts';
import { downloadList } from './download-list.ts';
import { findStored } from './find-stored.ts';
import { scanCaptures } from './scan-captures.ts';

/** Time limit for a job's capture to wait for the end of an outage, in milliseconds. */
const MAX_JOB_OUTAGE_MS = 60 * 60 * 1000;

/**
 * Handles requests before the pipeline: screens the target and the callback, looks for an earlier capture to reuse, and
 * lets captures of batches and jobs wait for the end of an outage.
 */
export function createIntake({ maxBatchConcurrency }: Pick<ServiceConfig, 'maxBatchConcurrency'>, parts: Parts) {
  const { pipeline, receivers, storage, events, logger, removeHere } = parts;
  const { egress } = parts.capturing;
  const stopping = parts.stopping.signal;

  const admitCallback = (callback: string): Observable<void> =>
    whileSubscribed((signal) => receivers.admit(callback, signal));

  const reuseOrCapture = reusing({
    capture: pipeline.admit,
    find: (request, maxAgeMs, ofKey) => findStored(storage, request, { maxAgeMs, now: Date.now(), ofKey }),
    keyOf: ({ labels, note, ...request }) =>
      `${likeness(request)} ${request.timeoutMs} ${JSON.stringify([labels, note])} ${request.target.url}`,
    events,
  });

  const submit: Submit = (request, options) =>
    defer(() => {
      const refusal = egress.screenLiteral(request.target.parsed);
      if (refusal !== null) {
        return pipeline.refuse(request, new CapstanError(refusal.code, refusal.reason), options);
      }
      const { callback, ...withoutCallback } = request;
      const capture = request.cacheMaxAgeMs === 0 ? pipeline.admit : reuseOrCapture;
      // The callback is screened before admission, so that a slow name server holds no slot.
      const captured =
        callback === undefined
          ? capture(request, options)
          : admitCallback(callback).pipe(
              // Without its callback: a refused callback is not told.
              catchError((error: unknown) => pipeline.refuse(withoutCallback, CapstanError.from(error), options)),
              switchMap(() => capture(request, options)),
            );
      if (callback === undefined && !receivers.areToldOfAll) return captured;
      // Answers wait for their events to be stored: after that, a crash loses no message.
      return captured.pipe(concatMap((outcome) => from(receivers.eventsStored()).pipe(map(() => outcome))));
    });

  const batchesOf = (submitOne: Submit): RunBatch => {
    const options = { pipeline, events, ids: randomUUID, maxConcurrency: maxBatchConcurrency };
    const run = createBatchRunner({ ...options, submit: submitOne });
    return (items, settings = {}) => {
      const items$ = run(items, settings);
      return settings.to === undefined && !receivers.areToldOfAll
        ? items$
        : concat(items$, defer(receivers.eventsStored).pipe(ignoreElements()));
    };
  };
  const runBatch = batchesOf(outlastingOutages({ submit, stopping }));
  const submitPatiently = outlastingOutages({ submit, limitMs: MAX_JOB_OUTAGE_MS, stopping });

  const submitBatch: CaptureService['submitBatch'] = (items, { callback, ...settings } = {}) =>
    callback === undefined
      ? runBatch(items, settings)
      : admitCallback(callback).pipe(switchMap(() => runBatch(items, { ...settings, to: { callback } })));

  return {
    submit,
    submitBatch,
    admitCallback,
    jobs: createJobs({
      store: storage.jobs,
      enabled: storage.results.kind !== 'none',
      submit: submitPatiently,
      submitBatch: batchesOf(submitPatiently),
      openSitemap: (url, proxy, signal) =>
        downloadList(url, proxy === undefined ? egress.agents : egress.agentsThrough(proxy, signal), signal),
      captures: scanCaptures(
        storage.results,
        (id) => removeHere([id]),
        () => storage.captureStore.pending,
      ),
      atOnce: () => pipeline.limits.maxConcurrent,
      ids: randomUUID,
      report: (error) => logger.error({ err: error }, 'a job failed'),
    }),
  };
}

/** Wraps a promise; unsubscribing aborts its work. */
function whileSubscribed<T>(work: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return defer(() => {
    const gone = new AbortController();
    return from(work(gone.signal)).pipe(finalize(() => gone.abort()));
  });
}
