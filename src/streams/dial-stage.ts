import {
  BehaviorSubject,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  type MonoTypeOperatorFunction,
  map,
  merge,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
  partition,
  tap,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { mergeMapOnDemand } from '../fairness/merge-map-on-demand.ts';
import { createPlaces } from '../fairness/share.ts';
import type { AheadPass } from './admission.ts';
import type { ElementPlace } from './element-place.ts';
import { createHostPlaces } from './host-places.ts';
import { outcomeOfError } from './outcome.ts';
import type { Pass } from './reservation.ts';

/** How targets are dialled. */
export interface Dialling {
  readonly stage: DialStage;
  /** Whether the target of a capture is dialled now. */
  readonly applies: (command: Pick<CaptureCommand, 'request' | 'batch'>) => boolean;
  /**
   * Resolves with the connection to the target, or with the outcome of the capture when it cannot be reached; rejects
   * when the command's signal is aborted.
   */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
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

interface DialHooks<C> {
  /** Whether the capture has not ended. */
  readonly isIn: (capture: C) => boolean;
  /** Ends a capture whose target was not reached. `startedAt`: when it was dialled. */
  readonly end: (capture: C, outcome: CaptureOutcome, startedAt: number) => void;
  readonly now: () => number;
  /** Reports errors that clients do not get. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
}

/**
 * Dials the targets of captures. Emits a capture whose target was reached once its batch has room, and one that is not
 * dialled at once. Ends the others.
 */
export function dialFirst<C extends ToDial>(dialling: Dialling, hooks: DialHooks<C>): MonoTypeOperatorFunction<C> {
  const { isIn, end, now, report } = hooks;

  /** Ends a capture whose target was not reached, once its outcome is stored. */
  const conclude = async (capture: C, unreached: Promise<CaptureOutcome>, startedAt: number): Promise<void> => {
    const { command } = capture;
    const outcome = await unreached.catch((thrown: unknown) => {
      if (!command.signal.aborted) report(thrown, command);
      return outcomeOfError(thrown);
    });
    if (isIn(capture)) end(capture, outcome, startedAt);
  };

  const dial = (capture: C): Observable<C> =>
    defer(() => {
      const { command, ahead } = capture;
      const startedAt = now();
      capture.phase = 'dial';
      ahead?.place.dialled();
      return dialling.dial(command).then(
        (found) => ({ startedAt, found }),
        (thrown: unknown) => ({ startedAt, found: { outcome: Promise.reject(thrown) } }),
      );
    }).pipe(
      mergeMap(({ startedAt, found }) => {
        capture.phase = null;
        if ('outcome' in found) {
          // Not awaited: the place among the dials is free while the record is stored.
          void conclude(capture, found.outcome, startedAt);
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

/** Maximum number of connections to one host that are being opened. */
const DIALS_PER_HOST = 8;

/** An admitted capture whose target is to be dialled. It leaves the queue when the command's signal is aborted. */
export interface Undialled {
  readonly command: Pick<CaptureCommand, 'batch' | 'request' | 'signal'>;
  readonly owner: string | null;
}

/** Dials the target of a capture. Emits the capture if it is to go on, and completes when the dial has ended. */
export type Dial<C> = (capture: C) => Observable<C>;

/** Dials the targets of admitted captures before these wait for a slot. */
export interface DialStage {
  /** Returns an operator that dials each capture when it is its turn. */
  readonly each: <C extends Undialled>(dial: Dial<C>) => OperatorFunction<C, C>;
  /** Changes the maximum number of dials at once; with 0, captures pass undialled, also those that wait. */
  setLimit(limit: number): void;
  readonly limit: number;
}

/**
 * Owners take turns, and so do the batches of one. One owner takes at most half of the dials, and all but one of a
 * host's places, so that its silent targets do not delay other owners.
 */
export function createDialStage(limit: number): DialStage {
  const limit$ = new BehaviorSubject(limit);
  const stage =
    <C extends Undialled>(dial: Dial<C>): OperatorFunction<C, C> =>
    (captures$) => {
      const isOff = () => limit$.value === 0;
      const hosts = createHostPlaces(() => (isOff() ? Number.POSITIVE_INFINITY : DIALS_PER_HOST));
      const dials = createPlaces(() => limit$.value);
      const queue = createFairQueue<readonly [C, free: () => void]>((owner) => isOff() || dials.has(owner));

      const join = (capture: C): void => {
        const { owner, command } = capture;
        const { batch, signal, request } = command;
        let leaveQueue = (): void => {};
        const leaveHost = hosts.enter(request.target.host, owner, batch, (free) => {
          leaveQueue = queue.join([capture, free], owner, batch);
        });
        const leave = (): void => {
          leaveQueue();
          leaveHost();
        };
        signal.addEventListener('abort', leave, { once: true });
      };

      const work = ([capture, free]: readonly [C, () => void]): Observable<C> =>
        defer(() => {
          const done = isOff() ? undefined : dials.take(capture.owner);
          if (done === undefined) {
            free();
            return of(capture);
          }
          return dial(capture).pipe(
            finalize(() => {
              done();
              free();
              queue.retry();
            }),
          );
        });
      // Captures that pass undialled do not wait for the dials under way.
      const most$ = limit$.pipe(map((most) => (most === 0 ? Number.POSITIVE_INFINITY : most)));
      return merge(
        mergeMapOnDemand(queue.next$, most$, work),
        limit$.pipe(tap(hosts.retry), ignoreElements()),
        captures$.pipe(tap(join), ignoreElements()),
      );
    };
  return {
    each: stage,
    setLimit: (next) => limit$.next(next),
    get limit() {
      return limit$.value;
    },
  };
}
