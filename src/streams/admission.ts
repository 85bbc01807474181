import { BehaviorSubject, type Observable } from 'rxjs';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureLimits } from '../capture/limits.ts';
import type { Overload } from '../capture/pressure.ts';
import { createCompletionRate } from './completion-rate.ts';

/** Permission for one capture to be inside, waiting or running. */
export interface Pass {
  /** Returns the permission. Idempotent. */
  release(): void;
}

/** Permission for a batch to have `width` captures inside, held for the batch's whole life. */
export interface BatchTicket {
  readonly width: number;
  /** Returns a pass for one element; undefined when `width` passes are out, or the ticket was released or revoked. */
  lend(): Pass | undefined;
  /** Ends the batch's claim. Passes that are still out count until they are returned. Idempotent. */
  release(): void;
}

/** The only place that counts captures inside. */
export interface Admission {
  /** `maxConcurrent + maxQueue`. */
  readonly capacity: number;
  /** Captures inside plus places reserved by batches. Exceeds `capacity` only after that was lowered. */
  readonly inside: number;
  /** Emits `inside` now and after every change. */
  readonly inside$: Observable<number>;
  /** Returns undefined when refused; `refusal()` then gives the reason. */
  admit(): Pass | undefined;
  /**
   * Returns a ticket as wide as `wanted` and the free capacity allow, at least 1. `onReturned` is called once, when the
   * ticket was released and all its passes were returned.
   */
  admitBatch(wanted: number, onReturned?: () => void): BatchTicket | undefined;
  /**
   * Why the next capture would be refused: `shutting_down`, or `queue_full` with `retryAfterSeconds`; undefined when it
   * would be admitted.
   */
  refusal(): CapstanError | undefined;
  setLimits(limits: CaptureLimits): void;
  /** Refuses with `queue_full` and this reason, whatever the free capacity, until it is called with null. */
  setOverload(overload: Overload | null): void;
  /** Refuses everything new with `shutting_down` from now on; admitted batches continue. */
  close(): void;
  /** Batches get no further passes, and count only for the passes that are out. */
  revokeBatches(): void;
}

const RETRY_AFTER_MAX_SECONDS = 60;

/** `now`: milliseconds. */
export function createAdmission(limits: CaptureLimits, now: () => number): Admission {
  let { maxConcurrent, maxQueue } = checked(limits);
  let closed = false;
  let overload: Overload | null = null;
  let overloadedUntil = 0;
  const inside$ = new BehaviorSubject(0);
  const rate = createCompletionRate();
  const revocations = new Set<() => void>();

  const capacity = (): number => maxConcurrent + maxQueue;
  const most = (): number => (closed ? 0 : Math.min(capacity(), overload?.most ?? capacity()));
  const room = (): number => most() - inside$.value;

  const change = (by: number): void => {
    rate.pass(now(), inside$.value >= maxConcurrent);
    inside$.next(inside$.value + by);
  };

  /** Time to finish what is inside at the measured rate: after it, a place is free or the overload is over. */
  const retryAfterSeconds = (): number => {
    rate.pass(now(), inside$.value >= maxConcurrent);
    const overloadMs = overload === null ? 0 : overloadedUntil - now();
    const seconds = Math.ceil(Math.max(inside$.value * rate.msPerCompletion(), overloadMs) / 1000);
    return Math.min(Math.max(seconds, 1), RETRY_AFTER_MAX_SECONDS);
  };

  const once = (back: () => void): Pass => {
    let out = true;
    return {
      release() {
        if (out) {
          out = false;
          back();
        }
      },
    };
  };

  return {
    get capacity() {
      return capacity();
    },
    get inside() {
      return inside$.value;
    },
    inside$: inside$.asObservable(),

    admit() {
      if (room() < 1) {
        return undefined;
      }
      change(+1);
      return once(() => {
        change(-1);
        rate.completed();
      });
    },

    admitBatch(wanted, onReturned) {
      if (room() < 1) {
        return undefined;
      }
      const width = Math.max(1, Math.min(wanted, room()));
      change(+width);
      // Invariant: a ticket counts `width` while it holds its places, and `lent` afterwards.
      let holds = true;
      let released = false;
      let lent = 0;

      const revoke = (): void => {
        if (holds) {
          holds = false;
          revocations.delete(revoke);
          change(lent - width);
        }
      };
      revocations.add(revoke);

      return {
        width,
        lend() {
          if (!holds || lent === width) {
            return undefined;
          }
          lent += 1;
          return once(() => {
            change(holds ? 0 : -1);
            lent -= 1;
            rate.completed();
            if (released && lent === 0) {
              onReturned?.();
            }
          });
        },
        release() {
          if (released) {
            return;
          }
          released = true;
          revoke();
          if (lent === 0) {
            onReturned?.();
          }
        },
      };
    },

    refusal() {
      if (closed) {
        return new CapstanError('shutting_down');
      }
      if (room() >= 1) {
        return undefined;
      }
      const full = `The queue is full: ${inside$.value} captures are inside, ${capacity()} may be.`;
      const reason = overload?.reason ?? full;
      return new CapstanError('queue_full', reason, { retryAfterSeconds: retryAfterSeconds() });
    },

    setLimits(next) {
      rate.pass(now(), inside$.value >= maxConcurrent);
      ({ maxConcurrent, maxQueue } = checked(next));
    },
    setOverload(next) {
      overload = next;
      overloadedUntil = now() + (next?.minMs ?? 0);
    },
    close() {
      closed = true;
    },
    revokeBatches() {
      for (const revoke of [...revocations]) {
        revoke();
      }
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
