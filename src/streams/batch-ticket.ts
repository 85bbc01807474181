import { once } from '../capture/once.ts';

/** Permission for one capture to be queued or running. */
export interface Pass {
  /** Returns the permission. Idempotent. */
  release(): void;
}

/** Permission for a batch to have at most `width` captures queued or running, for the batch's whole life. */
export interface BatchTicket {
  readonly width: number;
  /**
   * Claims a place for one element: calls `begin` when there is one, at once unless places were given back. Returns a
   * function that ends the claim. It is idempotent.
   */
  claim(begin: () => void): () => void;
  /** Returns a pass for one element; undefined when all places are lent, or the ticket was released or revoked. */
  lend(): Pass | undefined;
  /**
   * Gives all places back unless one is claimed. Later claims take them again, each when there is room; once admission
   * has ended, they get no pass.
   */
  giveBack(): void;
  /** Ends the batch's claim. Lent passes count until they are returned. Idempotent. */
  release(): void;
}

/** A ticket as the admission that counts it sees it. */
export interface IssuedTicket extends BatchTicket {
  /** Number of places that the ticket holds. */
  readonly held: number;
  /** Refuses further passes. Waiting claims begin, and get no pass. */
  revoke(): void;
}

/** The operations that a ticket needs from the admission that counts it. */
export interface TicketCount {
  /** Whether admission has ended, so that no claim may wait for a place. */
  isClosed(): boolean;
  change(by: number): void;
  /** Waits for a free place, takes it, and then calls `taken`. Returns a function that ends the wait. */
  takeOne(taken: () => void): () => void;
  completed(): void;
  /** Called once, when the ticket was revoked or released. */
  ended(ticket: IssuedTicket): void;
}

interface Claim {
  start(): void;
}

/** Creates a ticket that holds `width` places, which are counted already. */
export function createBatchTicket(width: number, count: TicketCount, onReturned?: () => void): IssuedTicket {
  // Invariant: a ticket counts `held` while it is valid, and `lent` afterwards.
  let valid = true;
  let released = false;
  let held = width;
  let lent = 0;
  let claimed = 0;
  const waiting = new Set<Claim>();

  const startWaiting = (): void => {
    for (const claim of waiting) {
      if (valid && claimed >= held) return;
      claim.start();
    }
  };

  const ticket: IssuedTicket = {
    width,
    get held() {
      return held;
    },

    claim(begin) {
      let stopTaking = (): void => {};
      let state: 'waiting' | 'started' | 'ended' = 'waiting';
      const claim: Claim = {
        start() {
          waiting.delete(claim);
          stopTaking();
          state = 'started';
          claimed += 1;
          begin();
        },
      };
      if (!valid || claimed < held) {
        claim.start();
      } else {
        waiting.add(claim);
        if (held < width) {
          stopTaking = count.takeOne(() => {
            held += 1;
            claim.start();
          });
        }
      }
      return () => {
        const was = state;
        state = 'ended';
        if (was === 'waiting') {
          waiting.delete(claim);
          stopTaking();
        } else if (was === 'started') {
          claimed -= 1;
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
      if (!valid || claimed > 0) return;
      if (count.isClosed()) return ticket.revoke();
      const unused = held - lent;
      held = lent;
      count.change(-unused);
    },

    revoke() {
      if (!valid) return;
      valid = false;
      count.ended(ticket);
      count.change(lent - held);
      startWaiting();
    },

    release() {
      if (released) return;
      released = true;
      ticket.revoke();
      if (lent === 0) onReturned?.();
    },
  };
  return ticket;
}
