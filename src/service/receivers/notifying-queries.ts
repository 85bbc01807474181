import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FactsOf } from '../../feed/event-facts.ts';
import { EventFilterSchema, eventPredicate, isVisible } from '../../feed/event-filter.ts';
import type { Addressee } from '../../receivers/dispatcher.ts';
import { GAP, type LoggedEvent } from '../../storage/ports/event-log.ts';
import type { NewQuery, QueryStore } from '../../storage/ports/query-store.ts';

/** Time after which other requests have a turn, in milliseconds. */
const TURN_MS = 10;

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
  return async (events: readonly LoggedEvent[]): Promise<readonly (readonly Addressee[])[]> => {
    // Messages about messages would have no end.
    const isTold = ({ type }: LoggedEvent) => type !== GAP && !type.startsWith('message.');
    if (!events.some(isTold)) return [];
    const notifying = new Map<string, Notifying>();
    for (const id of await queries.notifying()) {
      const query = known.get(id) ?? (await read(id));
      // Otherwise it was removed meanwhile.
      if (query !== undefined) notifying.set(id, query);
    }
    known = notifying;
    const asked = [...notifying.values()].flatMap(({ apiKeyName, notify, notifyAfter, matches }) => {
      const sees = seesNow(apiKeyName);
      if (sees === null) return [];
      const addressees = notify.map((name) => ({ receiver: keyOf(apiKeyName, name) }));
      return [{ notifyAfter, sees, addressees, matches }];
    });
    const all: Addressee[][] = [];
    let since = performance.now();
    for (const event of events) {
      const ofEvent: Addressee[] = [];
      for (const { notifyAfter, sees, addressees, matches } of isTold(event) ? asked : []) {
        // A key may have many queries.
        if (performance.now() - since > TURN_MS) {
          await nextTurn();
          since = performance.now();
        }
        if (event.id > notifyAfter && isVisible(event, sees) && matches(event)) ofEvent.push(...addressees);
      }
      all.push(ofEvent);
    }
    return all;
  };
}
