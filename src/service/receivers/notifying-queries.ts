import { takeTurns } from '../../capture/basics/event-loop-turns.ts';
import type { FactsOf } from '../../feed/event-facts.ts';
import { EventFilterSchema, eventPredicate, isVisible } from '../../feed/event-filter.ts';
import type { Addressee } from '../../receivers/dispatcher.ts';
import { GAP, type LoggedEvent } from '../../storage/ports/event-log.ts';
import type { NewQuery, QueryStore } from '../../storage/ports/query-store.ts';

interface NotifyingQueriesOptions {
  readonly queries: Pick<QueryStore, 'notifying' | 'get'>;
  /** Reads the facts of these events alone: it remembers one event, also while others have a turn. */
  readonly factsOf: FactsOf;
  readonly keyOf: (apiKeyName: string | null, name: string) => string;
  /** Returns what a key may see now, as `visibleKey` does; null for a key that is not accepted any more. */
  readonly seesNow: (apiKeyName: string | null) => string | null | undefined;
}

/** The fields of a query that never change. */
interface Notifying extends Pick<NewQuery, 'apiKeyName' | 'notify' | 'notifyAfter'> {
  readonly matches: (event: LoggedEvent) => boolean;
}

/** Returns a function that finds the receivers of the standing queries that events match. */
export function notifyingQueries({ queries, factsOf, keyOf, seesNow }: NotifyingQueriesOptions) {
  let known: ReadonlyMap<string, Notifying> = new Map();
  const read = async (id: string): Promise<Notifying | undefined> => {
    const query = await queries.get(id);
    return query && { ...query, matches: eventPredicate(EventFilterSchema.parse(JSON.parse(query.filter)), factsOf) };
  };
  /** Returns the queries of keys that are accepted now, by their ids. */
  const askedNow = async () => {
    const notifying = new Map<string, Notifying>();
    for (const id of await queries.notifying()) {
      const query = known.get(id) ?? (await read(id));
      // Otherwise it was removed meanwhile.
      if (query !== undefined) notifying.set(id, query);
    }
    known = notifying;
    const asked = [...notifying].flatMap(([id, { apiKeyName, notify, notifyAfter, matches }]) => {
      const sees = seesNow(apiKeyName);
      if (sees === null) return [];
      const addressees = notify.map((name) => ({ receiver: keyOf(apiKeyName, name) }));
      return [[id, { notifyAfter, sees, addressees, matches }] as const];
    });
    return new Map(asked);
  };
  return async (events: readonly LoggedEvent[]): Promise<readonly (readonly Addressee[])[]> => {
    // Messages about messages would have no end.
    const isTold = ({ type }: LoggedEvent) => type !== GAP && !type.startsWith('message.');
    if (!events.some(isTold)) return [];
    let asked = await askedNow();
    const all: (readonly Addressee[])[] = [];
    let letOthers = takeTurns();
    for (const event of events) {
      const matching: string[] = [];
      let isOutdated = false;
      for (const [id, { notifyAfter, sees, matches }] of isTold(event) ? asked : []) {
        // Queries and keys may be removed while others have a turn.
        if (await letOthers()) isOutdated = true;
        if (event.id > notifyAfter && isVisible(event, sees) && matches(event)) matching.push(id);
      }
      if (isOutdated) {
        asked = await askedNow();
        // The time in which it was asked is no part of a turn.
        letOthers = takeTurns();
      }
      all.push(matching.flatMap((id) => asked.get(id)?.addressees ?? []));
    }
    return all;
  };
}
