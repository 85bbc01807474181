/** A lock that one part of one process holds at a time. It is free again when its process ends or crashes. */
export interface HeldLock {
  /** False when another process may hold it by now. */
  readonly isHeld: boolean;
  /** Releases the lock. Never rejects. */
  release(): void | Promise<void>;
}

/** The lock of a process whose data no other process uses. */
export const UNCONTESTED: HeldLock = { isHeld: true, release: () => {} };
