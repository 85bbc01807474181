import {
  asyncScheduler,
  catchError,
  defer,
  fromEvent,
  type Observable,
  of,
  race,
  type SchedulerLike,
  share,
  switchMap,
  throwError,
  timer,
} from 'rxjs';
import { CATALOGUE, CapstanError } from '../capture/errors.ts';
import { type CaptureOutcome, outcomeOfError } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Submit, SubmitOptions } from './capture-pipeline.ts';

interface OutageOptions {
  readonly submit: Submit;
  /**
   * Maximum time that a capture waits for the end of an outage, in milliseconds since it was submitted.
   * @default The request's own deadline; each attempt then has the time that is left.
   */
  readonly limitMs?: number;
  /** Ends all waiting: captures that wait are refused with `shutting_down`. */
  readonly stopping: AbortSignal;
  readonly scheduler?: SchedulerLike;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Submits captures again, with growing pauses, while they fail because of an outage of the service. Each attempt
 * is a capture of its own in the event stream, but only the last one emits a conclusion, which webhooks report.
 */
export function outlastingOutages(options: OutageOptions): Submit {
  const { submit, limitMs, stopping, scheduler = asyncScheduler } = options;

  // Shared, so that all waiting captures together add only one listener.
  const stop$ = fromEvent(stopping, 'abort').pipe(share());
  const stopped$ = defer(() => (stopping.aborted ? of(null) : stop$)).pipe(
    switchMap(() => throwError(() => new CapstanError('shutting_down'))),
  );

  return (request, options) =>
    defer(() => {
      const startedAt = scheduler.now();
      const elapsedMs = () => scheduler.now() - startedAt;
      const limit = limitMs ?? request.timeoutMs;

      const attempt = (current: CaptureRequest, pauseMs: number): Observable<CaptureOutcome> => {
        let decision: boolean | undefined;
        const waits = (outcome: CaptureOutcome): boolean => {
          decision ??= isOutage(outcome) && (stopping.aborted || elapsedMs() + pauseMs < limit);
          return decision;
        };
        const again$ = defer(() =>
          attempt(
            // On a busy computer, a pause can last beyond the deadline.
            limitMs === undefined ? { ...request, timeoutMs: Math.max(1, limit - elapsedMs()) } : request,
            Math.min(pauseMs * 2, MAX_PAUSE_MS),
          ),
        );
        const attemptOptions: SubmitOptions = { ...options, isFinal: (outcome) => !waits(outcome) };
        return submit(current, attemptOptions).pipe(
          catchError((thrown: unknown) => {
            // Refusals are outages, too: no capture is admitted while the cluster's work queue is away.
            const outcome = outcomeOfError(thrown);
            return isOutage(outcome) ? of(outcome) : throwError(() => thrown);
          }),
          switchMap((outcome) =>
            waits(outcome) ? race(stopped$, timer(pauseMs, scheduler)).pipe(switchMap(() => again$)) : of(outcome),
          ),
        );
      };
      return attempt(request, FIRST_PAUSE_MS);
    });
}

function isOutage(outcome: CaptureOutcome): boolean {
  return outcome.state === 'failed' && CATALOGUE[outcome.failure.code].retry === 'outage';
}
