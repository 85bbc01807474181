import {
  BehaviorSubject,
  catchError,
  defer,
  EMPTY,
  finalize,
  fromEvent,
  ignoreElements,
  type MonoTypeOperatorFunction,
  map,
  merge,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
  partition,
  takeUntil,
  tap,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { mergeMapOnDemand } from '../fairness/merge-map-on-demand.ts';
import { createPlaces } from '../fairness/share.ts';
import { createHostPlaces } from './host-places.ts';
import type { Submission } from './submission.ts';

/** How targets are dialled. */
export interface Dialling {
  readonly stage: DialStage;
  /** Whether the target of a capture is dialled now. */
  readonly applies: (command: Pick<CaptureCommand, 'request' | 'batch'>) => boolean;
  /**
   * Resolves with the connection to the target, or with the outcome of the capture when it cannot be reached. Settles
   * soon after the command's signal is aborted.
   */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
}

export interface DialHooks {
  /**
   * Ends a capture whose target was not reached, or that was cancelled meanwhile, once its outcome is known.
   * `startedAt`: when it was dialled.
   */
  readonly end: (submission: Submission, unreached: Unreached, startedAt: number) => void;
  readonly now: () => number;
}

/**
 * Dials the targets of captures. Emits a capture whose target was reached once its batch has room, and one that is not
 * dialled at once. Ends the others.
 */
export function dialFirst(
  { stage, dial: connect }: Dialling,
  { end, now }: DialHooks,
): MonoTypeOperatorFunction<Submission> {
  const dial = (submission: Submission): Observable<Submission> => {
    const startedAt = now();
    const { signal } = submission.command;
    submission.phase = 'dial';
    submission.itemPlace?.dialled();
    return defer(() => connect(submission.command)).pipe(
      catchError((error: unknown) => of({ outcome: Promise.reject(error) })),
      mergeMap((found) => {
        if ('outcome' in found) {
          // Not awaited: the target's place among the dials is free while the record is stored.
          end(submission, found, startedAt);
          return EMPTY;
        }
        submission.dialled = found;
        if (signal.aborted) {
          end(submission, { outcome: Promise.reject(signal.reason) }, startedAt);
          return EMPTY;
        }
        submission.phase = null;
        return of(submission);
      }),
    );
  };

  return (admitted$) => {
    const [dialled$, others$] = partition(admitted$, ({ isToDial }) => isToDial);
    return merge(dialled$.pipe(stage.each(dial), mergeMap(inBatch)), others$);
  };
}

/** Emits a capture whose target is reached when it may be one of its batch's captures at once. */
function inBatch(submission: Submission): Observable<Submission> {
  const { itemPlace, command } = submission;
  if (itemPlace === undefined) return of(submission);
  const moved$ = new Observable<Submission>((subscriber) =>
    itemPlace.moveIn(() => {
      subscriber.next(submission);
      subscriber.complete();
    }),
  );
  return moved$.pipe(takeUntil(fromEvent(command.signal, 'abort')));
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
