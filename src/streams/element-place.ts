import type { ReadElement } from './read-ahead.ts';
import type { Pass, Reservation } from './reservation.ts';

/** The place of one element among the captures at once of its batch. */
export interface ElementPlace {
  /** Notes that its target is dialled from now on. */
  dialled(): void;
  /**
   * Waits for the place, then calls `begin` with a pass, or with undefined after the reservation was revoked. Calls it
   * at once when the element already has the place. Returns a function that ends the wait.
   */
  enter(begin: (pass: Pass | undefined) => void): () => void;
  /** Gives the place back. Idempotent. */
  leave(): void;
}

/** `read`: told when the target of the element is dialled, and when the element asks for its place. */
export function createElementPlace(
  reservation: Reservation,
  read: Pick<ReadElement, 'dialled' | 'reached'>,
): ElementPlace {
  let end: (() => void) | undefined;
  let isEntered = false;
  let isOver = false;
  const place: ElementPlace = {
    dialled: () => read.dialled(),
    enter(begin) {
      read.reached();
      if (isEntered) {
        begin(reservation.lend());
        return () => {};
      }
      end = reservation.use(() => {
        isEntered = true;
        begin(reservation.lend());
      });
      // The element may have ended as it began.
      if (isOver) end();
      return () => {
        if (!isEntered) end?.();
      };
    },
    leave() {
      isOver = true;
      end?.();
    },
  };
  return place;
}
