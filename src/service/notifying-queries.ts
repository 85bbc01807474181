import type { FactsOf } from '../feed/event-facts.ts';
import { EventFilterSchema, eventPredicate, isVisible } from '../feed/event-filter.ts';
import type { Told } from '../receivers/dispatcher.ts';
import { GAP, type LoggedEvent } from '../storage/ports/event-log.ts';
import type { QueryRecord, QueryStore } from '../storage/ports/query-store.ts';

export interface NotifyingQueriesOptions {
  readonly queries: Pick<QueryStore, 'notifying'>;
  readonly factsOf: FactsOf;
  readonly keyOf: (apiKeyName: string | null, name: string) => string;
  /** Returns what a key may see now, as `visibleKey` does; null for a key that is not accepted any more. */
  readonly seesNow: (apiKeyName: string | null) => string | null | undefined;
}

type Matches = (event: LoggedEvent) => boolean;

/** Returns a function that finds the receivers of the standing queries that events match. */
export function notifyingQueries({ queries, factsOf, keyOf, seesNow }: NotifyingQueriesOptions) {
  const known = new Map<string, Matches>();
  const matchesOf = ({ id, filter }: QueryRecord): Matches => {
    const made = known.get(id) ?? eventPredicate(EventFilterSchema.parse(JSON.parse(filter)), factsOf);
    known.set(id, made);
    return made;
  };
  return async (events: readonly LoggedEvent[]): Promise<readonly (readonly Told[])[]> => {
    // Messages about messages would have no end.
    const isTold = ({ type }: LoggedEvent) => type !== GAP && !type.startsWith('message.');
    if (!events.some(isTold)) return [];
    const notifying = await queries.notifying();
    if (known.size > notifying.length) known.clear();
    const asked = notifying.flatMap((query) => {
      const { apiKeyName, notify, notifyAfter } = query;
      const sees = seesNow(apiKeyName);
      if (sees === null) return [];
      const told = notify.map((name) => ({ receiver: keyOf(apiKeyName, name) }));
      return [{ notifyAfter, sees, told, matches: matchesOf(query) }];
    });
    return events.map((event) =>
      asked
        .filter(
          ({ notifyAfter, sees, matches }) =>
            isTold(event) && event.id > notifyAfter && isVisible(event, sees) && matches(event),
        )
        .flatMap(({ told }) => told),
    );
  };
}
