import { charactersOf, type LoggedEvent } from '../storage/ports/event-log.ts';

interface RecentEventsBounds {
  readonly events: number;
  /** Maximum total number of characters of the events' bodies. */
  readonly characters: number;
}

export type RecentEvents = ReturnType<typeof createRecentEvents>;

/** The newest events of this process, kept in memory so that replays after short disconnections need no database. */
export function createRecentEvents(startAfter: number, bounds: RecentEventsBounds) {
  let events: LoggedEvent[] = [];
  /** Entries before this index count as removed; they are deleted together once they are the larger part. */
  let first = 0;
  let characters = 0;
  let floor = startAfter;
  let newest = startAfter;

  function trim(): void {
    while (events.length - first > bounds.events || characters > bounds.characters) {
      const gone = events[first];
      if (gone === undefined) break;
      first += 1;
      characters -= charactersOf(gone);
      floor = gone.id;
    }
    if (first <= events.length / 2) return;
    events = events.slice(first);
    first = 0;
  }

  return {
    /** Events up to and including this id are no longer in memory. */
    get floor() {
      return floor;
    },
    get newest() {
      return newest;
    },
    add(added: readonly LoggedEvent[]): void {
      for (const event of added) {
        events.push(event);
        characters += charactersOf(event);
        newest = event.id;
      }
      trim();
    },
    /** Returns at most `limit` events that follow an id, which must not be below the floor; oldest first. */
    after(id: number, limit: number): readonly LoggedEvent[] {
      let low = first;
      let high = events.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((events[middle]?.id ?? Number.POSITIVE_INFINITY) > id) high = middle;
        else low = middle + 1;
      }
      return events.slice(low, low + limit);
    },
  };
}
