import { once } from '../capture/basics/once.ts';
import type { ReadItem } from './read-ahead.ts';

/** Permission for one capture to be queued or running. */
export interface Place {
  /** Gives the place back. Idempotent. */
  release(): void;
}

/** The places of a batch, for its whole life: at most `width` of its captures are queued or running. */
export interface Reservation {
  readonly width: number;
  /** Number of places that it holds. */
  readonly held: number;
  /** Whether captures of other owners are admitted. */
  readonly isShared: () => boolean;
  /** Adds an item, which enters when it is to be captured. */
  item(read: ReadItem): ItemPlace;
  /**
   * Gives all unused places back unless there are items. Later items take them again, each when there is room.
   * After admission has ended, items get no place.
   */
  giveBack(): void;
  /** Refuses further places. Waiting items begin in turn, and get none. */
  revoke(): void;
  /** Ends the reservation and all waiting. Places count until their captures have released them. Idempotent. */
  release(): void;
}

/**
 * The place of one item of a batch, from when it was read. An item is captured in a place of its batch, or, while
 * its target is dialled, in a place ahead of the batch, from which it moves into the batch once its target is reached.
 * When it is captured again, the next capture takes the same place.
 */
export interface ItemPlace {
  /** Whether it has a place of its batch, which its capture keeps when the item leaves. */
  readonly isIn: boolean;
  /**
   * Waits for a place, then calls `begin` with it, or with undefined after the reservation was revoked. `isAhead`: with
   * a place ahead of the batch, at once, while there is one.
   */
  enter(isAhead: boolean, begin: (place: Place | undefined) => void): void;
  /** Notes that its target is dialled from now on. */
  dialled(): void;
  /** Calls `go` when its capture has a place of the batch. */
  moveIn(go: () => void): void;
  /** Ends waiting, or leaves the place to other items once its capture has released it. Idempotent. */
  leave(): void;
}

/** The operations that a reservation needs from the admission that counts it. */
interface ReservationCount {
  /** Whether admission has ended, so that no item may wait for a place. */
  isClosed(): boolean;
  isShared(): boolean;
  change(by: number): void;
  /** Waits for a free place, takes it, and then calls `onTaken`. Returns a function that ends the wait. */
  takeOne(onTaken: () => void): () => void;
  /** Takes a place ahead of the batch. Returns a function that gives it back; undefined when there is none. */
  takeAhead(): (() => void) | undefined;
  /** Counts the end of a capture. Call it before its place is given back. */
  completed(): void;
}

/** Creates a reservation that holds `width` places, which are counted already. */
export function createReservation(width: number, count: ReservationCount, onReturned: () => void): Reservation {
  // Invariant: admission counts `held` places for this reservation while it is valid, and `lent` places afterwards.
  let valid = true;
  let released = false;
  let held = width;
  /** Number of the batch's places that captures hold. */
  let lent = 0;
  /** Number of the batch's places in use: by an item, or by a capture that goes on after its item has left. */
  let used = 0;
  /** Captures, also those ahead of the batch. */
  let captures = 0;
  let items = 0;
  /** Functions that start an item, in order, each with one that ends its wait. */
  const waiting = new Map<() => void, () => void>();

  const serveWaiting = (): void => {
    for (const start of waiting.keys()) {
      // After the reservation was revoked, as many items are in at once as before.
      if (used >= (valid ? held : width)) return;
      start();
    }
  };

  const createItem = (read: ReadItem): ItemPlace => {
    let isIn = false;
    let hasLeft = false;
    let stopWaiting = (): void => {};
    /** Gives the place of its capture back; undefined when it has no capture. */
    let giveBack: (() => void) | undefined;

    const lend = (): (() => void) => {
      lent += 1;
      return () => {
        lent -= 1;
        if (!valid) count.change(-1);
      };
    };
    const release = (): void => {
      captures -= 1;
      count.completed();
      const back = giveBack;
      // Cleared first: the place may go to this item at once.
      giveBack = undefined;
      back?.();
      endUse();
      if (released && captures === 0) onReturned();
    };
    const placeOf = (giveBackFirst: () => void): Place => {
      captures += 1;
      giveBack = giveBackFirst;
      return { release: once(release) };
    };
    const endUse = (): void => {
      if (!isIn || !hasLeft || giveBack !== undefined) return;
      isIn = false;
      used -= 1;
      serveWaiting();
    };
    /** Calls `go` once the item has a place of the batch. */
    const use = (go: () => void): void => {
      read.reached();
      if (isIn) {
        go();
        return;
      }
      let stopTaking = (): void => {};
      const start = (): void => {
        stopWaiting();
        isIn = true;
        used += 1;
        go();
      };
      stopWaiting = () => {
        waiting.delete(start);
        stopTaking();
      };
      waiting.set(start, stopWaiting);
      serveWaiting();
      if (waiting.has(start) && valid && held < width) {
        stopTaking = count.takeOne(() => {
          held += 1;
          start();
        });
      }
    };

    return {
      get isIn() {
        return isIn;
      },
      enter(isAhead, begin) {
        const ahead = isAhead && !isIn ? count.takeAhead() : undefined;
        if (ahead === undefined) use(() => begin(valid ? placeOf(lend()) : undefined));
        else begin(placeOf(ahead));
      },
      dialled: read.dialled,
      moveIn(go) {
        const isAhead = !isIn;
        use(() => {
          // After the reservation was revoked, the capture keeps the place that it has.
          if (isAhead && valid && giveBack !== undefined) {
            giveBack();
            giveBack = lend();
          }
          go();
        });
      },
      leave() {
        if (hasLeft) return;
        hasLeft = true;
        items -= 1;
        stopWaiting();
        read.ended();
        endUse();
      },
    };
  };

  const reservation: Reservation = {
    width,
    isShared: count.isShared,
    get held() {
      return held;
    },
    item(read) {
      items += 1;
      return createItem(read);
    },
    giveBack() {
      if (!valid || items > 0) return;
      if (count.isClosed()) return reservation.revoke();
      const unused = held - used;
      held = used;
      count.change(-unused);
    },
    revoke() {
      if (!valid) return;
      valid = false;
      count.change(lent - held);
      serveWaiting();
    },
    release() {
      if (released) return;
      released = true;
      for (const stop of waiting.values()) stop();
      reservation.revoke();
      if (captures === 0) onReturned();
    },
  };
  return reservation;
}
