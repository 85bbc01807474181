import { defer, Observable, of } from 'rxjs';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled, Unreached } from '../capture/dialled.ts';
import { createTurns, type Turns } from '../fairness/turns.ts';

/** How targets are dialled. */
export interface Dialling {
  readonly stage: DialStage;
  /** Whether the target of a capture is dialled now, if dials are allowed at all. */
  readonly applies: (command: Pick<CaptureCommand, 'request' | 'batch'>) => boolean;
  /**
   * Resolves with the connection to the target, or with the outcome of the capture when it cannot be reached. Settles
   * soon after the command's signal is aborted.
   */
  readonly dial: (command: CaptureCommand) => Promise<Dialled | Unreached>;
}

/** Maximum number of connections to one host that are being opened. */
const DIALS_PER_HOST = 8;

/** An admitted capture whose target is to be dialled. It leaves the queue when the command's signal is aborted. */
export interface Undialled {
  readonly command: Pick<CaptureCommand, 'batch' | 'request' | 'signal'>;
  readonly owner: string | null;
}

/** Dials the targets of admitted captures before these wait for a slot. */
interface DialStage {
  /**
   * Waits for the turn of the capture, then subscribes to `dial$`. `dial$` emits the capture if it goes on, and completes
   * when the dial has ended, also after an abort.
   */
  readonly inTurn: <C extends Undialled>(capture: C, dial$: Observable<C>) => Observable<C>;
  /** Changes the maximum number of dials at once; with 0, captures pass undialled, also those that wait. */
  setLimit(limit: number): void;
  readonly limit: number;
}

/**
 * Owners take turns, and so do the batches of one. One owner takes at most half of the dials, and all but one of a
 * host's places, so that its silent targets do not delay other owners.
 */
export function createDialStage(initialLimit: number): DialStage {
  let limit = initialLimit;
  const isOff = () => limit === 0;
  // At limit 0, captures must not wait for dials under way.
  const dials = createTurns(() => (isOff() ? Number.POSITIVE_INFINITY : limit));
  const hosts = new Map<string, Turns>();

  const turnsOf = (host: string): Turns => {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    const capacity = () => (isOff() ? Number.POSITIVE_INFINITY : DIALS_PER_HOST);
    const turns = createTurns(capacity, (free, own) => free > 1 || own === 0);
    hosts.set(host, turns);
    return turns;
  };

  return {
    inTurn: (capture, dial$) =>
      new Observable((subscriber) => {
        const { owner, command } = capture;
        const { batch, signal, request } = command;
        const { host } = request.target;
        const turns = turnsOf(host);
        let hasBegun = false;
        const dialled$ = defer(() => {
          if (isOff()) return of(capture);
          hasBegun = true;
          return dial$;
        });
        // A dial that has begun keeps its place until it has ended: its connection is open until then.
        signal.addEventListener('abort', () => hasBegun || subscriber.complete(), { once: true });
        return turns.enter(owner, batch, (free) => {
          subscriber.add(() => {
            free();
            if (turns.taken === 0 && turns.waiting === 0) hosts.delete(host);
          });
          dials.during(owner, batch, dialled$).subscribe(subscriber);
        });
      }),
    setLimit(next) {
      limit = next;
      for (const turns of hosts.values()) turns.retry();
      dials.retry();
    },
    get limit() {
      return limit;
    },
  };
}
