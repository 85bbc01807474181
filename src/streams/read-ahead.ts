import { asyncScheduler, defer, filter, of, type SchedulerLike, Subject, take, timer } from 'rxjs';

/**
 * Time after which a silent target counts as dead, in milliseconds. Shorter than 1 s, after which a SYN is repeated.
 */
const UNLIKELY_MS = 500;
/**
 * Limit on the reached targets that wait, with open connections, for a place in the batch. It is multiplied by the
 * share of dead targets, so no connection waits while all targets answer.
 */
const MAX_WAITING = 8;
/** Weight of each target in the share of those that were reached. */
const WEIGHT = 1 / 8;

/** An item of a batch that was read. */
export interface ReadItem {
  /** Its target is being dialled; until then, it waited for its turn. */
  dialled(): void;
  /** Its target was reached, or is not dialled: the item takes one of the batch's places next. */
  reached(): void;
  /** It has ended. */
  ended(): void;
}

/**
 * Decides how many items of a batch are read while its places are taken. While all targets answer, none is read
 * ahead, because a connection that waits too long is closed. The more targets are dead, the more are dialled at once,
 * so that the living ones keep the batch busy.
 *
 * `atOnce`: maximum number of captures of the batch that run or wait for a slot. `maxAhead`: maximum number of further
 * items that are being dialled; 0: none.
 */
export function createReadAhead(
  atOnce: () => number,
  maxAhead: () => number,
  scheduler: SchedulerLike = asyncScheduler,
) {
  /** Items that wait for their turn or are being dialled, and since when; oldest first. */
  const young = new Map<ReadItem, { readonly since: number; readonly isDialled: boolean }>();
  let old = 0;
  let behind = 0;
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
    const inFlight = behind + young.size + old;
    const places = atOnce();
    if (inFlight < places) return true;
    if (inFlight >= places + maxAhead()) return false;
    return behind + Math.round(young.size * share) < places + Math.floor(MAX_WAITING * (1 - share));
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
      let state: 'ahead' | 'behind' | 'ended' = 'ahead';
      const leaveDial = (): void => {
        if (!young.delete(item)) old -= 1;
      };
      const item: ReadItem = {
        dialled() {
          if (state !== 'ahead') return;
          leaveDial();
          young.set(item, { since: scheduler.now(), isDialled: true });
        },
        reached() {
          if (state !== 'ahead') return;
          state = 'behind';
          leaveDial();
          behind += 1;
          note(true);
          changed$.next();
        },
        ended() {
          if (state === 'ended') return;
          if (state === 'behind') behind -= 1;
          else {
            if (young.get(item)?.isDialled === true) note(false);
            leaveDial();
          }
          state = 'ended';
          changed$.next();
        },
      };
      young.set(item, { since: scheduler.now(), isDialled: false });
      return item;
    },
  };
}
