import type { MonoTypeOperatorFunction } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { CapstanError } from '../capture/errors.ts';
import { createLimiter } from './limiter.ts';

/** Decides when admitted captures start: the limiter of this process, or the work queue of a cluster. */
export interface Turns {
  readonly running: number;
  readonly waiting: number;
  /**
   * Puts an admitted capture into a queue outside of this process. Rejects with a `CapstanError` when the queue refuses
   * it, and with the reason of the command's signal when that is aborted first. `isPatient`: waits for room instead of
   * rejecting. The method is undefined when captures wait in this process.
   */
  readonly enqueue?: (command: CaptureCommand, isPatient: boolean) => Promise<void>;
  /** Returns the reason why no capture can be queued now; undefined when one may be queued. */
  readonly refusal?: () => CapstanError | undefined;
  /** Returns an operator that subscribes to its source when it is the capture's turn. */
  readonly through: <T>(command: CaptureCommand, owner: string | null) => MonoTypeOperatorFunction<T>;
  setLimit(limit: number): void;
}

/** Turns within this process: owners take turns, and the captures of one are first come, first served. */
export function createLocalTurns(limit: number): Turns {
  const limiter = createLimiter(limit);
  return {
    get running() {
      return limiter.running;
    },
    get waiting() {
      return limiter.waiting;
    },
    through: (_, owner) => limiter.throughFor(owner),
    setLimit: (next) => limiter.setLimit(next),
  };
}
