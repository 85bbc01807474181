import {
  defer,
  fromEvent,
  type MonoTypeOperatorFunction,
  merge,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
  partition,
  takeUntil,
} from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import { createTurns, type Turns } from '../fairness/turns.ts';
import type { Submission } from './submission.ts';

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

export interface DialHooks {
  /** Ends a capture whose target was not reached, once its outcome is stored. `startedAt`: when it was dialled. */
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
  const dial = (submission: Submission): Observable<Submission> =>
    new Observable((subscriber) => {
      const startedAt = now();
      submission.phase = 'dial';
      submission.itemPlace?.dialled();
      // Ends although the capture was aborted: a connection that is open by then must be closed.
      void connect(submission.command)
        .catch((error: unknown): Unreached => ({ outcome: Promise.reject(error) }))
        .then((found) => {
          submission.phase = null;
          // The outcome is not awaited: the target's place among the dials is free while the record is stored.
          if ('outcome' in found) end(submission, found, startedAt);
          else if (submission.isOver) found.close();
          else {
            submission.dialled = found;
            subscriber.next(submission);
          }
          subscriber.complete();
        });
    });

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
export function createDialStage(initialLimit: number): DialStage {
  let limit = initialLimit;
  const isOff = () => limit === 0;
  // Captures that pass undialled do not wait for the dials under way.
  const dials = createTurns(() => (isOff() ? Number.POSITIVE_INFINITY : limit));
  const hosts = new Map<string, Turns>();

  const placesOf = (host: string): Turns => {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    const most = () => (isOff() ? Number.POSITIVE_INFINITY : DIALS_PER_HOST);
    const places = createTurns(most, (free, own) => free > 1 || own === 0);
    hosts.set(host, places);
    return places;
  };

  return {
    each: (dial) =>
      mergeMap((capture) => {
        const { owner, command } = capture;
        const { batch, signal, request } = command;
        const { host } = request.target;
        const dialled$ = defer(() => (isOff() ? of(capture) : dial(capture)));
        return new Observable((subscriber) => {
          signal.addEventListener('abort', () => subscriber.complete(), { once: true });
          const places = placesOf(host);
          return places.enter(owner, batch, (free) => {
            subscriber.add(() => {
              free();
              if (places.taken === 0) hosts.delete(host);
            });
            dials.during(owner, batch, dialled$).subscribe(subscriber);
          });
        });
      }),
    setLimit(next) {
      limit = next;
      for (const places of hosts.values()) places.retry();
      dials.retry();
    },
    get limit() {
      return limit;
    },
  };
}
