import { once } from '../capture/basics/once.ts';

/** Permission for one capture to be queued or running. */
export interface Pass {
  /** Returns the permission. Idempotent. */
  release(): void;
}

/** Permission for a batch to have at most `width` captures queued or running, for the batch's whole life. */
export interface Reservation {
  readonly width: number;
  /**
   * Uses a place for one element: calls `begin` when there is one, at once unless places were given back. Returns a
   * function that ends the use, or the wait for it. It is idempotent.
   */
  use(begin: () => void): () => void;
  /** Returns a pass for one element; undefined when all places are lent, or the reservation was released or revoked. */
  lend(): Pass | undefined;
  /**
   * Gives all places back unless one is used. Later elements take them again, each when there is room. After admission
   * has ended, elements get no pass.
   */
  giveBack(): void;
  /** Ends the reservation. Lent passes count until they are returned. Idempotent. */
  release(): void;
}

/** A reservation as the admission that counts it sees it. */
export interface IssuedReservation extends Reservation {
  /** Number of places that the reservation holds. */
  readonly held: number;
  /** Refuses further passes. Waiting elements begin in turn, and get no pass. */
  revoke(): void;
}

/** The operations that a reservation needs from the admission that counts it. */
interface ReservationCount {
  /** Whether admission has ended, so that no element may wait for a place. */
  isClosed(): boolean;
  change(by: number): void;
  /** Waits for a free place, takes it, and then calls `taken`. Returns a function that ends the wait. */
  takeOne(taken: () => void): () => void;
  completed(): void;
  /** Called once, when the reservation was revoked or released. */
  ended(reservation: IssuedReservation): void;
}

/** An element that waits for a place. */
interface Waiting {
  start(): void;
}

/** Creates a reservation that holds `width` places, which are counted already. */
export function createReservation(width: number, count: ReservationCount, onReturned?: () => void): IssuedReservation {
  // Invariant: a reservation counts `held` while it is valid, and `lent` afterwards.
  let valid = true;
  let released = false;
  let held = width;
  let lent = 0;
  let used = 0;
  const queue = new Set<Waiting>();

  const startWaiting = (): void => {
    for (const element of queue) {
      if (used >= most()) return;
      element.start();
    }
  };
  /** Elements that may use a place at once: after the reservation was revoked, as many as before. */
  const most = (): number => (valid ? held : width);

  const reservation: IssuedReservation = {
    width,
    get held() {
      return held;
    },

    use(begin) {
      let stopTaking = (): void => {};
      let state: 'waiting' | 'started' | 'ended' = 'waiting';
      const element: Waiting = {
        start() {
          queue.delete(element);
          stopTaking();
          state = 'started';
          used += 1;
          begin();
        },
      };
      if (used < most()) {
        element.start();
      } else {
        queue.add(element);
        if (valid && held < width) {
          stopTaking = count.takeOne(() => {
            held += 1;
            element.start();
          });
        }
      }
      return () => {
        const was = state;
        state = 'ended';
        if (was === 'waiting') {
          queue.delete(element);
          stopTaking();
        } else if (was === 'started') {
          used -= 1;
          startWaiting();
        }
      };
    },

    lend() {
      if (!valid || lent === held) return undefined;
      lent += 1;
      const release = once(() => {
        lent -= 1;
        count.change(valid ? 0 : -1);
        count.completed();
        if (released && lent === 0) onReturned?.();
      });
      return { release };
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
