import { defer, EMPTY, type MonoTypeOperatorFunction, merge, mergeMap, Observable, of, partition } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { AheadPass } from './admission.ts';
import type { DialStage } from './dial-stage.ts';
import type { ElementPlace } from './element-place.ts';
import { outcomeOfError } from './outcome.ts';
import type { Pass } from './reservation.ts';

/** How targets are dialled. */
export interface Dialling {
  readonly stage: DialStage;
  readonly applies: (command: Pick<CaptureCommand, 'request' | 'batch'>) => boolean;
  /**
   * Resolves with the connection to the target, or with the outcome of the capture when it cannot be reached; rejects
   * when the command's signal is aborted.
   */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | CaptureOutcome>;
}

/** An admitted capture, as far as it is dialled. */
export interface ToDial {
  readonly command: CaptureCommand;
  readonly owner: string | null;
  /** Whether its target is dialled. */
  readonly isToDial: boolean;
  pass: Pass;
  /** The place in its batch that an element takes when its target is reached. */
  readonly ahead: { readonly pass: AheadPass; readonly place: ElementPlace } | undefined;
  phase: CapturePhase | null;
  /** The open connection to its target. */
  dialled: Dialled | undefined;
}

export interface DialHooks<C> {
  /** Whether the capture has not ended. */
  readonly isIn: (capture: C) => boolean;
  /** Ends a capture whose target was not reached. `startedAt`: when it was dialled. */
  readonly end: (capture: C, outcome: CaptureOutcome, startedAt: number) => void;
  readonly now: () => number;
  /** Reports errors that clients do not get. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
}

/** Whether the target of a capture is dialled now. */
export function isDialledBy({ stage, applies }: Dialling, command: Pick<CaptureCommand, 'request' | 'batch'>): boolean {
  return stage.limit > 0 && applies(command);
}

/**
 * Dials the targets of captures. Emits those that are reached, when they may be captured at once with others of their
 * batch, and those that are not dialled; ends the others.
 */
export function dialFirst<C extends ToDial>(dialling: Dialling, hooks: DialHooks<C>): MonoTypeOperatorFunction<C> {
  const { isIn, end, now, report } = hooks;

  const dial = (capture: C): Observable<C> =>
    defer(() => {
      const { command, ahead } = capture;
      const startedAt = now();
      capture.phase = 'dial';
      ahead?.place.dialled();
      return dialling.dial(command).then(
        (found) => ({ startedAt, found }),
        (thrown: unknown) => {
          if (!command.signal.aborted) report(thrown, command);
          return { startedAt, found: outcomeOfError(thrown) };
        },
      );
    }).pipe(
      mergeMap(({ startedAt, found }) => {
        capture.phase = null;
        if ('state' in found) {
          if (isIn(capture)) end(capture, found, startedAt);
          return EMPTY;
        }
        if (!isIn(capture)) {
          found.close();
          return EMPTY;
        }
        capture.dialled = found;
        return of(capture);
      }),
    );

  /** Emits a capture whose target is reached when it may be one of its batch's captures at once. */
  const placed = (capture: C): Observable<C> => {
    const { ahead, command } = capture;
    if (ahead === undefined) return of(capture);
    return new Observable((subscriber) => {
      let leave = (): void => {};
      const abandon = (): void => {
        leave();
        subscriber.complete();
      };
      command.signal.addEventListener('abort', abandon, { once: true });
      leave = ahead.place.enter((pass) => {
        command.signal.removeEventListener('abort', abandon);
        // After the reservation was revoked, the capture keeps the pass that it has.
        if (pass !== undefined) {
          ahead.pass.exchange();
          capture.pass = pass;
        }
        subscriber.next(capture);
        subscriber.complete();
      });
    });
  };

  return (admitted$) => {
    const [dialled$, others$] = partition(admitted$, ({ isToDial }) => isToDial);
    return merge(dialled$.pipe(dialling.stage.each(dial), mergeMap(placed)), others$);
  };
}
