import {
  asyncScheduler,
  catchError,
  defer,
  filter,
  fromEvent,
  ignoreElements,
  map,
  merge,
  Observable,
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
import { type CaptureOutcome, outcomeOfAbort, outcomeOfError } from '../capture/outcome.ts';

/**
 * Performs one capture, from the page to the store. Its first value, or its error, becomes the outcome. Completes when
 * the next capture may begin.
 */
type Perform = (command: CaptureCommand) => ObservableInput<CaptureOutcome>;

/** Backstop for the actors' own deadlines, in milliseconds after them. Normally it is never reached. */
const GRACE_MS = 5_000;
/**
 * Time limit for disposing of a browser context, in milliseconds. Normally it takes a few. A browser that needs longer
 * hangs, and is replaced.
 */
const TEARDOWN_MS = 5_000;

export interface PerformOptions {
  readonly perform: Perform;
  /** Ends the command: aborts its `signal` with this reason. */
  readonly abort: (reason: CapstanError) => void;
  /** Milliseconds after the request's own deadline by which `perform` should have ended by itself. */
  readonly graceMs?: number;
  /** Maximum time that `perform` may take to end after an abort, in milliseconds. */
  readonly teardownMs?: number;
  /** Scheduler of all timers. */
  readonly scheduler?: SchedulerLike;
  /** Reports errors that clients do not get: the error behind an `internal`, and a `perform` that was given up. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
}

/**
 * Runs one capture, or stores the record of a target that was not reached, under two backstops. Emits exactly one
 * outcome, completes when the next capture may begin, and never errors.
 * - At `timeoutMs + graceMs` the command is aborted with `capture_timeout`.
 * - After any abort, and after its outcome, it completes only when `perform` has ended, because until then the page is
 *   still open in the browser; but at most `teardownMs` later, because a `perform` that never ends must not hold a slot
 *   forever.
 *
 * When `perform` has an outcome in spite of the abort, that one counts: a capture that was stored is `stored`.
 */
export function performWithBackstops(command: CaptureCommand, options: PerformOptions): Observable<CaptureOutcome> {
  const { perform, abort, report } = options;
  const { graceMs = GRACE_MS, teardownMs = TEARDOWN_MS, scheduler = asyncScheduler } = options;
  const { signal, request } = command;

  const performing$ = defer(() => perform(command)).pipe(
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
    // Not `take(1)`, which would complete before `perform` has ended.
    filter((_, index) => index === 0),
  );
  const overdue$ = timer(request.timeoutMs + graceMs, scheduler).pipe(
    tap(() => abort(new CapstanError('capture_timeout'))),
    ignoreElements(),
  );
  const late = `The capture had not ended ${teardownMs} ms after`;
  const givenUp$ = fromEvent(signal, 'abort').pipe(
    take(1),
    switchMap(() => timer(teardownMs, scheduler)),
    map(() => outcomeOfAbort(signal)),
    tap(() => report(new Error(`${late} it was aborted.`), command)),
  );
  return new Observable((subscriber) => {
    // The timers are started first: a `perform` that ends synchronously must find them to stop.
    const backstops = merge(overdue$, givenUp$).subscribe((outcome) => {
      subscriber.next(outcome);
      subscriber.complete();
    });
    const giveUp = (): void => {
      report(new Error(`${late} its outcome.`), command);
      subscriber.complete();
    };
    subscriber.add(backstops);
    subscriber.add(
      performing$.subscribe({
        next: (outcome) => {
          backstops.unsubscribe();
          subscriber.next(outcome);
          subscriber.add(timer(teardownMs, scheduler).subscribe(giveUp));
        },
        complete: () => subscriber.complete(),
      }),
    );
  });
}
