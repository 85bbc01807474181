import { once } from '../capture/basics/once.ts';
import type { ReadElement } from './read-ahead.ts';

/** Permission for one capture to be queued or running. */
export interface Place {
  /** Gives the place back. Idempotent. */
  release(): void;
}

/** The places of a batch, for its whole life: at most `width` of its captures are queued or running. */
export interface Reservation {
  readonly width: number;
  /** `read`: told when the target of the element is dialled, and when the element asks for its place. */
  element(read: Pick<ReadElement, 'dialled' | 'reached'>): ElementPlace;
  /**
   * Gives all places back unless one is used. Later elements take them again, each when there is room. After admission
   * has ended, elements get no place.
   */
  giveBack(): void;
  /** Ends the reservation. Places count until their captures have released them. Idempotent. */
  release(): void;
}

/** The place of one element of a batch. When the element is captured again, the next capture takes the same place. */
export interface ElementPlace {
  /** Notes that its target is dialled from now on. */
  dialled(): void;
  /**
   * Waits for the place, then calls `begin` with it, or with undefined after the reservation was revoked. Calls it at
   * once when the element has the place. Returns a function that ends the wait.
   */
  enter(begin: (place: Place | undefined) => void): () => void;
  /** Leaves the place to other elements. Idempotent. */
  leave(): void;
}

/** A reservation as the admission that counts it sees it. */
export interface IssuedReservation extends Reservation {
  /** Number of places that the reservation holds. */
  readonly held: number;
  /** Refuses further places. Waiting elements begin in turn, and get none. */
  revoke(): void;
}

/** The operations that a reservation needs from the admission that counts it. */
interface ReservationCount {
  /** Whether admission has ended, so that no element may wait for a place. */
  isClosed(): boolean;
  change(by: number): void;
  /** Waits for a free place, takes it, and then calls `onTaken`. Returns a function that ends the wait. */
  takeOne(onTaken: () => void): () => void;
  completed(): void;
  /** Called once, when the reservation was revoked or released. */
  ended(reservation: IssuedReservation): void;
}

/** Creates a reservation that holds `width` places, which are counted already. */
export function createReservation(width: number, count: ReservationCount, onReturned?: () => void): IssuedReservation {
  // Invariant: a reservation counts `held` while it is valid, and `lent` afterwards.
  let valid = true;
  let released = false;
  let held = width;
  /** Places with a capture. */
  let lent = 0;
  /** Places with an element. An element may end before its capture has released the place. */
  let used = 0;
  /** Elements that wait for a place; each function begins one. */
  const waiting = new Set<() => void>();

  /** Elements that may use a place at once: after the reservation was revoked, as many as before. */
  const most = (): number => (valid ? held : width);
  const startWaiting = (): void => {
    for (const start of waiting) {
      if (used >= most()) return;
      start();
    }
  };

  /** Uses a place for one element. Returns a function that ends the use, or the wait for it. It is idempotent. */
  const use = (begin: () => void): (() => void) => {
    let stopTaking = (): void => {};
    let state: 'waiting' | 'started' | 'ended' = 'waiting';
    const start = (): void => {
      waiting.delete(start);
      stopTaking();
      state = 'started';
      used += 1;
      begin();
    };
    if (used < most()) {
      start();
    } else {
      waiting.add(start);
      if (valid && held < width) {
        stopTaking = count.takeOne(() => {
          held += 1;
          start();
        });
      }
    }
    return () => {
      const was = state;
      state = 'ended';
      if (was === 'waiting') {
        waiting.delete(start);
        stopTaking();
      } else if (was === 'started') {
        used -= 1;
        startWaiting();
      }
    };
  };

  /** Returns a place for one capture; undefined when all are lent, or the reservation was released or revoked. */
  const lend = (): Place | undefined => {
    if (!valid || lent === held) return undefined;
    lent += 1;
    const release = once(() => {
      lent -= 1;
      count.change(valid ? 0 : -1);
      count.completed();
      if (released && lent === 0) onReturned?.();
    });
    return { release };
  };

  const reservation: IssuedReservation = {
    width,
    get held() {
      return held;
    },

    element({ dialled, reached }) {
      let end = (): void => {};
      let isIn = false;
      let isOver = false;
      return {
        dialled,
        enter(begin) {
          reached();
          if (isIn) {
            begin(lend());
            return () => {};
          }
          end = use(() => {
            isIn = true;
            begin(lend());
          });
          // The element may have ended as it began.
          if (isOver) end();
          return () => {
            if (!isIn) end();
          };
        },
        leave() {
          isOver = true;
          end();
        },
      };
    },

    giveBack() {
      if (!valid || used > 0) return;
      if (count.isClosed()) return reservation.revoke();
      const unused = held - lent;
      held = lent;
      count.change(-unused);
    },

    revoke() {
      if (!valid) return;
      valid = false;
      count.ended(reservation);
      count.change(lent - held);
      startWaiting();
    },

    release() {
      if (released) return;
      released = true;
      reservation.revoke();
      if (lent === 0) onReturned?.();
    },
  };
  return reservation;
}
