import { ofKey } from '../../capture/client.ts';
import { charactersOf, type EventEntry, gapEntry } from '../ports/event-log.ts';

/** Share of the bounds that is made free at once: in steps, not for each event. */
const STEP_SHARE = 0.01;

/** How many events may wait together. */
export interface WaitingBounds {
  readonly events: number;
  /** Maximum number of characters of their bodies. */
  readonly characters: number;
}

/** How a list holds events. */
export interface EventsIn<Item> {
  readonly eventOf: (item: Item) => EventEntry;
  /** Returns an item for a gap, at the position of `item`. */
  readonly gapAt: (item: Item, gap: EventEntry) => Item;
  readonly isDroppable: (event: EventEntry) => boolean;
}

/**
 * Drops events of a list that is too long: the oldest of the API key that takes the largest share. A gap has the place
 * of the last missing event of its key, so a subscriber that continues after it misses nothing.
 */
export function withoutOldest<Item>(
  waiting: readonly Item[],
  { eventOf, gapAt, isDroppable }: EventsIn<Item>,
  bounds: WaitingBounds,
  now: number,
): Item[] {
  const keyOf = (item: Item) => eventOf(item).api_key_name;
  const allCharacters = (items: readonly Item[]) => items.reduce((sum, item) => sum + charactersOf(eventOf(item)), 0);
  const droppable = waiting.filter((item) => isDroppable(eventOf(item)));
  const shares = [...Map.groupBy(droppable, keyOf).values()].map((items) => ({
    items,
    dropped: 0,
    characters: allCharacters(items),
    /** The larger of the shares of both bounds. */
    get use() {
      return Math.max((items.length - this.dropped) / bounds.events, this.characters / bounds.characters);
    },
  }));
  const gone = new Set<Item>();
  const maxLeft = Math.ceil(bounds.events * (1 - STEP_SHARE));
  let excess = allCharacters(waiting) - bounds.characters * (1 - STEP_SHARE);
  let gaps = 0;
  while (shares.length > 0 && (waiting.length - gone.size + gaps > maxLeft || excess > 0)) {
    const largest = shares.reduce((most, share) => (share.use > most.use ? share : most));
    const oldest = largest.items[largest.dropped];
    if (oldest === undefined) break;
    gone.add(oldest);
    if (largest.dropped === 0) gaps += 1;
    largest.dropped += 1;
    largest.characters -= charactersOf(eventOf(oldest));
    excess -= charactersOf(eventOf(oldest));
  }
  const last = new Map([...gone].map((item) => [keyOf(item), item]));
  return waiting.flatMap((item) => {
    if (!gone.has(item)) return [item];
    const key = keyOf(item);
    return last.get(key) === item ? [gapAt(item, gapEntry('not_written', now, ofKey(key)))] : [];
  });
}
