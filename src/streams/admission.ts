import { BehaviorSubject } from 'rxjs';
import { once } from '../capture/basics/once.ts';
import { retryAfterFor } from '../capture/basics/retry-after.ts';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import type { Overload } from '../capture/operation/pressure.ts';
import { createPlaceCount, shareOf } from '../fairness/share.ts';
import { createCompletionRate } from './completion-rate.ts';
import { createReservation, type Place, type Reservation } from './reservation.ts';

/** Admits captures. Counts those admitted, which are queued or running. `now`: milliseconds. */
export function createAdmission(limits: CaptureLimits, now: () => number) {
  let { maxConcurrent, maxQueue } = checked(limits);
  let closed = false;
  let overload: Overload | null = null;
  let overloadedUntil = 0;
  const taken$ = new BehaviorSubject(0);
  const rate = createCompletionRate();
  const noteRate = (completed = 0): void => rate.note(now(), taken.all >= maxConcurrent, completed);
  const reservations = new Set<Reservation>();
  /** Callbacks of reservations that wait for a place, with their owners, in order. */
  const waiting = new Map<() => void, string | null>();

  const capacity = (): number => maxConcurrent + maxQueue;
  const limit = (): number => (closed ? 0 : Math.min(capacity(), overload?.maxTaken ?? capacity()));
  /** Captures admitted, and places reserved. */
  const taken = createPlaceCount();
  const room = (owner: string | null = null): number => {
    const free = limit() - taken.all;
    return owner === null || maxQueue === 0 ? free : shareOf(free, taken.of(owner));
  };

  const change = (by: number, owner: string | null = null): void => {
    noteRate();
    taken.change(owner, by);
    taken$.next(taken.all);
    if (by < 0) serveWaiting();
  };

  const serveWaiting = (): void => {
    for (const [gain, owner] of waiting) {
      if (room() < 1) return;
      waiting.delete(gain);
      change(+1, owner);
      gain();
    }
  };

  /** Captures ahead of their batches together take at most half of the queue. */
  const takeAhead = (owner: string | null): boolean => {
    let ahead = 0;
    for (const reservation of reservations) ahead += reservation.ahead;
    if (room(owner) < 1 || ahead >= Math.floor(maxQueue / 2)) return false;
    change(+1, owner);
    return true;
  };

  /**
   * Estimated time until all admitted captures have ended, and at least until the overload is over; at most 60 s.
   */
  const retryAfterSeconds = (): number => {
    noteRate();
    const overloadMs = overload === null ? 0 : overloadedUntil - now();
    return retryAfterFor(Math.max(taken.all * rate.msPerCompletion(), overloadMs));
  };

  return {
    /** `maxConcurrent + maxQueue`. */
    get capacity() {
      return capacity();
    },
    /**
     * Captures queued or running, plus places reserved by batches. Exceeds `capacity` only after `capacity` was
     * lowered.
     */
    get taken() {
      return taken.all;
    },
    /** Emits `taken` now and after every change. */
    taken$: taken$.asObservable(),

    /**
     * Returns undefined when refused; `refusal()` then gives the reason. An owner other than null is refused once it
     * has as many captures admitted as places are free: alone, it fills half of the places.
     */
    admit(owner: string | null = null): Place | undefined {
      if (room(owner) < 1) {
        return undefined;
      }
      change(+1, owner);
      const release = once(() => {
        noteRate(1);
        change(-1, owner);
      });
      return { join: (go) => go(), release };
    },

    /**
     * Returns a reservation as wide as `wanted` and the free capacity allow, at least 1. `onEmpty` is called once,
     * when the reservation was released and all its captures have ended.
     */
    admitBatch(wanted: number, onEmpty?: () => void, owner: string | null = null): Reservation | undefined {
      if (room(owner) < 1) {
        return undefined;
      }
      const width = Math.max(1, Math.min(wanted, room(owner)));
      change(+width, owner);
      const reservation = createReservation(
        width,
        {
          isClosed: () => closed,
          hasOthers: () => owner !== null && taken.all > taken.of(owner),
          change: (by) => change(by, owner),
          await(gain) {
            waiting.set(gain, owner);
            serveWaiting();
          },
          forget: (gain) => void waiting.delete(gain),
          takeAhead: () => takeAhead(owner),
          completed: () => noteRate(1),
        },
        () => {
          reservations.delete(reservation);
          onEmpty?.();
        },
      );
      reservations.add(reservation);
      return reservation;
    },

    /**
     * Why the next capture would be refused: `shutting_down`, or `queue_full` with `retryAfterSeconds`; undefined when
     * it would be admitted.
     */
    refusal(owner: string | null = null): CapstanError | undefined {
      if (closed) {
        return new CapstanError('shutting_down');
      }
      if (room(owner) >= 1) {
        return undefined;
      }
      if (owner !== null && room() >= 1) {
        const share = `The share of the queue is full: ${taken.of(owner)} captures of the API key ${owner} are admitted, ${limit() - taken.all} places are left for other keys.`;
        return new CapstanError('queue_full', share, { retryAfterSeconds: retryAfterSeconds() });
      }
      const full = `The queue is full: ${taken.all} captures are admitted, the maximum is ${capacity()}.`;
      const reason = overload?.reason ?? full;
      return new CapstanError('queue_full', reason, { retryAfterSeconds: retryAfterSeconds() });
    },

    setLimits(next: CaptureLimits) {
      noteRate();
      ({ maxConcurrent, maxQueue } = checked(next));
      serveWaiting();
    },
    /**
     * Admits at most `maxTaken` captures, and refuses the others with `queue_full` and this reason, until it is called
     * with null.
     */
    setOverload(next: Overload | null) {
      overload = next;
      overloadedUntil = now() + (next?.minMs ?? 0);
      serveWaiting();
    },
    /**
     * Refuses everything new with `shutting_down` from now on. Admitted batches continue, unless they gave back all
     * places.
     */
    close() {
      closed = true;
      // Otherwise a batch without places would wait for one forever, and `drain` would not wait for the batch to end.
      for (const reservation of [...reservations]) if (reservation.size === 0) reservation.revoke();
    },
    /** Gives batches no further places. From then on they count only with those that captures hold. */
    revokeBatches() {
      for (const reservation of [...reservations]) reservation.revoke();
    },
  };
}

function checked(limits: CaptureLimits): CaptureLimits {
  const { maxConcurrent, maxQueue } = limits;
  if (!Number.isInteger(maxConcurrent) || maxConcurrent < 1) {
    throw new RangeError(`maxConcurrent must be an integer of 1 or more, not ${maxConcurrent}.`);
  }
  if (!Number.isInteger(maxQueue) || maxQueue < 0) {
    throw new RangeError(`maxQueue must be an integer of 0 or more, not ${maxQueue}.`);
  }
  return limits;
}
