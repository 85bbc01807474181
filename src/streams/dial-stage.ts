import {
  BehaviorSubject,
  ignoreElements,
  map,
  merge,
  type Observable,
  type ObservedValueOf,
  type OperatorFunction,
  of,
  tap,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import { createFairQueue } from './fair-queue.ts';
import { mergeMapOnDemand } from './merge-map-on-demand.ts';

/** An admitted capture whose target is to be dialled. It leaves the queue when the command's signal is aborted. */
export interface Undialled {
  readonly command: Pick<CaptureCommand, 'batch' | 'request' | 'signal'>;
  readonly owner: string | null;
}

/** The stage before the service's cap, in which the targets of admitted captures are dialled. */
export interface DialStage {
  /**
   * Returns an operator that dials each capture when it is its turn, and emits those that `dial` emits. It holds its
   * place until `dial` completes.
   */
  readonly each: <C extends Undialled>(dial: (capture: C) => Observable<C>) => OperatorFunction<C, C>;
  /** Changes the maximum number of dials at once; with 0, captures pass undialled. */
  setLimit(limit: number): void;
  readonly limit: number;
}

/** Owners take turns, and so do the batches of one. */
export function createDialStage(limit: number): DialStage {
  const limit$ = new BehaviorSubject(limit);
  return {
    each: (dial) => (captures$) => {
      const queue = createFairQueue<ObservedValueOf<typeof captures$>>();
      const joined$ = captures$.pipe(
        tap((capture) => {
          const leave = queue.join(capture, capture.owner, capture.command.batch);
          capture.command.signal.addEventListener('abort', leave, { once: true });
        }),
        ignoreElements(),
      );
      const work = (capture: ObservedValueOf<typeof captures$>) => (limit$.value === 0 ? of(capture) : dial(capture));
      const atLeastOne$ = limit$.pipe(map((most) => Math.max(1, most)));
      return merge(mergeMapOnDemand(queue.next$, atLeastOne$, work), joined$);
    },
    setLimit: (next) => limit$.next(next),
    get limit() {
      return limit$.value;
    },
  };
}
