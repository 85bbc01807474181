import { Subscription } from 'rxjs';
import { once } from '../capture/basics/once.ts';
import { createTurns } from '../fairness/turns.ts';

/** Permission for one capture to be in the service, from its admission to its outcome. */
export interface Place {
  /** Calls `go` once the capture may wait for a slot: at once, unless its batch has as many there as it may. */
  join(go: () => void): void;
  /** Gives the place back. Idempotent. */
  release(): void;
}

/** The places of a batch. At most `width` of its captures run or wait for a slot; others are dialled ahead of them. */
export interface Reservation {
  readonly width: number;
  /** Number of places that it holds. */
  readonly size: number;
  /** Number of those beyond its width. */
  readonly ahead: number;
  /** Whether captures of other owners are admitted. */
  readonly hasOthers: () => boolean;
  /**
   * Waits for a place, then calls `begin` with it, or with undefined after the reservation was revoked. With `isToDial`,
   * may take a place beyond the width. Returns a function that ends the wait.
   */
  enter(isToDial: boolean, begin: (place: Place | undefined) => void): () => void;
  /**
   * Gives all unused places back. Later captures take them again, each when there is room. After admission has ended,
   * captures get no place.
   */
  giveBack(): void;
  /** Refuses further places. Waiting captures begin, and get none. */
  revoke(): void;
  /**
   * Ends the reservation. Each place is counted until its capture has ended. Captures that other clients share go on;
   * those that wait start only after the client's own captures were cancelled. Idempotent.
   */
  release(): void;
}

/** The operations that a reservation needs from the admission that counts it. */
interface ReservationCount {
  /** Whether admission has ended, so that no capture may wait for a place. */
  isClosed(): boolean;
  hasOthers(): boolean;
  change(by: number): void;
  /** Takes a place when one is free, and then calls `gain`. */
  await(gain: () => void): void;
  /** Ends the wait that `await` began. */
  forget(gain: () => void): void;
  /** Takes a place beyond the width. False when there is none. */
  takeAhead(): boolean;
  /** Counts the end of a capture. Call it before its place is given back. */
  completed(): void;
}

/**
 * - `open`: captures get places.
 * - `revoked`: captures get no further places. Those that have one may join.
 * - `closing`: released; the captures of its client are being cancelled, and none may join meanwhile.
 * - `closed`: released. The captures that are left, which other clients share, may join.
 */
type State = 'open' | 'revoked' | 'closing' | 'closed';

/**
 * Creates a reservation that holds `width` places, which are counted already. `onEmpty`: called once it was released
 * and all its captures have ended.
 */
export function createReservation(width: number, count: ReservationCount, onEmpty: () => void): Reservation {
  // Invariant: admission counts `size` places for this reservation while it is open, and one for each capture afterwards.
  let state: State = 'open';
  let size = width;
  const isOpen = (): boolean => state === 'open';
  const isReleased = (): boolean => state === 'closing' || state === 'closed';
  const captures = createTurns(() => (isOpen() ? size : Number.POSITIVE_INFINITY));
  const joined = createTurns(() => (state === 'closing' ? 0 : width));

  const gain = (): void => {
    size += 1;
    captures.retry();
    takeAgain();
  };
  /** Waits for a place that was given back while a capture waits for it. */
  const takeAgain = (): void => {
    if (isOpen() && captures.waiting > 0 && size < width) count.await(gain);
    else count.forget(gain);
  };

  const createPlace = (free: () => void): Place => {
    const joining = new Subscription();
    const release = once(() => {
      joining.unsubscribe();
      count.completed();
      if (!isOpen()) count.change(-1);
      else if (size > width) {
        size -= 1;
        count.change(-1);
      }
      free();
      if (isReleased() && captures.taken === 0) onEmpty();
    });
    return {
      release,
      join(go) {
        const leave = joined.enter(null, null, (freeTurn) => {
          joining.add(freeTurn);
          go();
        });
        joining.add(leave);
      },
    };
  };

  const revokeAs = (next: State): void => {
    const wasOpen = isOpen();
    state = next;
    if (!wasOpen) return;
    count.forget(gain);
    count.change(captures.taken - size);
    captures.retry();
  };

  const reservation: Reservation = {
    width,
    hasOthers: count.hasOthers,
    get size() {
      return size;
    },
    get ahead() {
      return isOpen() ? Math.max(0, size - width) : 0;
    },
    enter(isToDial, begin) {
      if (isToDial && isOpen() && captures.taken >= size && size >= width && count.takeAhead()) size += 1;
      const leave = captures.enter(null, null, (free) => {
        if (isOpen()) return begin(createPlace(free));
        free();
        if (!isReleased()) begin(undefined);
      });
      takeAgain();
      return () => {
        leave();
        takeAgain();
      };
    },
    giveBack() {
      if (!isOpen()) return;
      if (count.isClosed()) return reservation.revoke();
      const unused = size - captures.taken;
      size = captures.taken;
      count.change(-unused);
    },
    revoke() {
      if (isOpen()) revokeAs('revoked');
    },
    release() {
      if (isReleased()) return;
      revokeAs('closing');
      queueMicrotask(() => {
        state = 'closed';
        joined.retry();
      });
      if (captures.taken === 0) onEmpty();
    },
  };
  return reservation;
}
