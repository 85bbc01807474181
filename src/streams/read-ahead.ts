import { asyncScheduler, defer, filter, of, type SchedulerLike, Subject, take, timer } from 'rxjs';

/**
 * Time after which a silent target counts as dead, in milliseconds. Shorter than 1 s, after which a SYN is repeated.
 */
const UNLIKELY_MS = 500;
/**
 * Limit on the reached targets that wait, with open connections, until their batch captures them. It is multiplied by
 * the share of dead targets, so no connection waits while all targets answer.
 */
const MAX_WAITING = 8;
/** Weight of each target in the share of those that were reached. */
const WEIGHT = 1 / 8;

/** An item of a batch that was read. */
export interface ReadItem {
  /** Its target waits for its turn to be dialled. */
  toDial(): void;
  /** Its target is being dialled. */
  dialling(): void;
  /** Its target was reached. */
  reached(): void;
  /** It has ended. */
  ended(): void;
}

/**
 * Decides how many items of a batch are read while it captures as many as it may. While all targets answer, none is
 * read ahead, because a connection that waits too long is closed. The more targets are dead, the more are dialled at
 * once, so that the living ones keep the batch busy.
 *
 * `atOnce`: maximum number of captures of the batch that run or wait for a slot. `maxAhead`: maximum number of further
 * items that are being dialled; 0: none.
 */
export function createReadAhead(
  atOnce: () => number,
  maxAhead: () => number,
  scheduler: SchedulerLike = asyncScheduler,
) {
  /** Items that have not ended. */
  let items = 0;
  /** Those that wait for their dial or are being dialled, and since when; oldest first. */
  const young = new Map<ReadItem, { readonly since: number; readonly isDialled: boolean }>();
  /** Number of those that have taken longer than `UNLIKELY_MS`. */
  let old = 0;
  /** Share of the targets that were reached. */
  let share = 1;
  const changed$ = new Subject<void>();
  let isAwaitingAge = false;

  const note = (wasReached: boolean): void => {
    share += (Number(wasReached) - share) * WEIGHT;
  };

  const age = (): void => {
    for (const [item, { since, isDialled }] of young) {
      if (scheduler.now() - since < UNLIKELY_MS) break;
      young.delete(item);
      old += 1;
      // An item that waits for its host says nothing about its target.
      if (isDialled) note(false);
    }
  };
  const isOpen = (): boolean => {
    age();
    const places = atOnce();
    if (items < places) return true;
    if (items >= places + maxAhead()) return false;
    const likely = items - old - young.size + Math.round(young.size * share);
    return likely < places + Math.floor(MAX_WAITING * (1 - share));
  };
  /** Waits until the oldest dial has become old. Dials share one timer. */
  const awaitAge = (): void => {
    const [oldest] = young.values();
    if (oldest === undefined || isAwaitingAge) return;
    isAwaitingAge = true;
    timer(Math.max(1, oldest.since + UNLIKELY_MS - scheduler.now()), scheduler).subscribe(() => {
      isAwaitingAge = false;
      changed$.next();
      if (changed$.observed) awaitAge();
    });
  };
  return {
    /** Emits once, as soon as another item may be read. */
    room$: defer(() => {
      if (isOpen()) return of(null);
      awaitAge();
      return changed$.pipe(filter(isOpen), take(1));
    }),

    read(): ReadItem {
      let isAhead = false;
      const leaveDial = (): void => {
        if (isAhead && !young.delete(item)) old -= 1;
        isAhead = false;
      };
      const enterDial = (isDialled: boolean): void => {
        leaveDial();
        isAhead = true;
        young.set(item, { since: scheduler.now(), isDialled });
        if (changed$.observed) awaitAge();
      };
      const item: ReadItem = {
        toDial: () => enterDial(false),
        dialling: () => enterDial(true),
        reached() {
          leaveDial();
          note(true);
          changed$.next();
        },
        ended() {
          if (young.get(item)?.isDialled === true) note(false);
          leaveDial();
          items -= 1;
          changed$.next();
        },
      };
      items += 1;
      return item;
    },
  };
}
