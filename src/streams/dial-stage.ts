import {
  BehaviorSubject,
  defer,
  finalize,
  ignoreElements,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  of,
  tap,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import { createPlaces } from '../capture/share.ts';
import { createFairQueue } from './fair-queue.ts';
import { createHostPlaces } from './host-places.ts';
import { mergeMapOnDemand } from './merge-map-on-demand.ts';

/** Maximum number of connections to one host that are being opened. */
const DIALS_PER_HOST = 8;

/** An admitted capture whose target is to be dialled. It leaves the queue when the command's signal is aborted. */
export interface Undialled {
  readonly command: Pick<CaptureCommand, 'batch' | 'request' | 'signal'>;
  readonly owner: string | null;
}

/** Dials the target of a capture. Emits the capture if it is to go on, and completes when the dial has ended. */
export type Dial<C> = (capture: C) => Observable<C>;

/** The stage before the service's cap, in which the targets of admitted captures are dialled. */
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
