import {
  catchError,
  defer,
  fromEvent,
  ignoreElements,
  map,
  merge,
  type Observable,
  type ObservableInput,
  of,
  type SchedulerLike,
  switchMap,
  take,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import { outcomeOfAbort, outcomeOfError } from './outcome.ts';

/** Performs one capture, from the page to the store. A rejection becomes the outcome. */
export type Perform = (command: CaptureCommand) => ObservableInput<CaptureOutcome>;

export interface PerformanceOptions {
  readonly perform: Perform;
  /** Ends the command: aborts its `signal` with this reason. */
  readonly abort: (reason: CapstanError) => void;
  /** Milliseconds after the request's own deadline by which `perform` should have ended by itself. */
  readonly graceMs: number;
  /** Maximum time that `perform` may take to end after an abort, in milliseconds. */
  readonly teardownMs: number;
  readonly scheduler: SchedulerLike;
  /** Reports errors that clients do not get: the error behind an `internal`, and a `perform` that was given up. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
}

/**
 * Runs one capture under two backstops. Emits exactly one outcome and never errors.
 * - At `timeoutMs + graceMs` the command is aborted with `capture_timeout`.
 * - After any abort it continues until `perform` has ended, because the page is still being torn down and an earlier
 * free slot would put one page too many on the browser; but no longer than `teardownMs`, because a `perform` that never
 * ends must not hold a slot forever.
 *
 * The last result of `perform` counts: a capture that was stored in spite of the abort is `stored`, and one that stored
 * a failed record after the backstop returns that failure.
 */
export function performed(command: CaptureCommand, options: PerformanceOptions): Observable<CaptureOutcome> {
  const { perform, abort, graceMs, teardownMs, scheduler, report } = options;
  const { signal, request } = command;

  const ended$ = defer(() => perform(command)).pipe(
    take(1),
    throwIfEmpty(() => new Error('The capture ended without an outcome.')),
    map((outcome) => (signal.aborted && outcome.state === 'cancelled' ? outcomeOfAbort(signal) : outcome)),
    catchError((thrown: unknown) => {
      if (signal.aborted) {
        return of(outcomeOfAbort(signal));
      }
      if (!(thrown instanceof CapstanError) || thrown.code === 'internal') {
        report(thrown, command);
      }
      return of(outcomeOfError(thrown));
    }),
  );
  const overdue$ = timer(request.timeoutMs + graceMs, scheduler).pipe(
    tap(() => abort(new CapstanError('capture_timeout'))),
    ignoreElements(),
  );
  const givenUp$ = fromEvent(signal, 'abort').pipe(
    take(1),
    switchMap(() => timer(teardownMs, scheduler)),
    map(() => outcomeOfAbort(signal)),
    tap(() => report(new Error(`The capture had not ended ${teardownMs} ms after it was aborted.`), command)),
  );
  // The timers are started first: a `perform` that ends synchronously must find them to stop.
  return merge(overdue$, givenUp$, ended$).pipe(take(1));
}
