import type { OfKey } from '../../capture/client.ts';

/** How many events may wait together. */
export interface WaitingBounds {
  readonly events: number;
  /** Maximum number of characters of their bodies. */
  readonly characters: number;
}

/** Returns the events to drop from a list that is too long: the oldest of the API key that takes the largest share. */
export function overflowOf<Event extends OfKey & { readonly body: string }>(
  waiting: readonly Event[],
  bounds: WaitingBounds,
): ReadonlySet<Event> {
  const shares = [...Map.groupBy(waiting, ({ api_key_name: owner }) => owner).values()].map((events) => ({
    events,
    dropped: 0,
    characters: charactersOf(events),
  }));
  const gone = new Set<Event>();
  let characters = charactersOf(waiting);
  while (waiting.length - gone.size > bounds.events || characters > bounds.characters) {
    const largest = shares.reduce((a, b) => (useOf(b, bounds) > useOf(a, bounds) ? b : a));
    const oldest = largest.events[largest.dropped];
    if (oldest === undefined) break;
    gone.add(oldest);
    largest.dropped += 1;
    largest.characters -= oldest.body.length;
    characters -= oldest.body.length;
  }
  return gone;
}

interface Share {
  readonly events: readonly unknown[];
  readonly dropped: number;
  readonly characters: number;
}

/** The larger of the shares of both bounds. */
function useOf({ events, dropped, characters }: Share, bounds: WaitingBounds): number {
  return Math.max((events.length - dropped) / bounds.events, characters / bounds.characters);
}

export function charactersOf(events: readonly { readonly body: string }[]): number {
  return events.reduce((sum, { body }) => sum + body.length, 0);
}
