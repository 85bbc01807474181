import { GAP, type LoggedEvent } from '../storage/event-log.ts';
import { type HostRange, hostKeys, hostRanges, matchesHost } from '../storage/hosts.ts';

/** A subscriber's filter; all given conditions must hold. */
export interface EventFilter {
  /** Event types, and prefixes of types such as `capture.`; undefined selects all. */
  readonly types: readonly string[] | undefined;
  /** Host, matched as in `by-host` queries. */
  readonly host: string | undefined;
  readonly batch: string | undefined;
}

/** Returns a key that is the same for all filters that select the same events. */
export function filterKey({ types, host, batch }: EventFilter): string {
  return JSON.stringify([types?.toSorted(), host, batch]);
}

/** Gaps always pass, because a missing event might have matched this subscriber. */
export function eventPredicate({ types, host, batch }: EventFilter): (event: LoggedEvent) => boolean {
  const ranges = host === undefined ? undefined : hostRanges(host);
  return (event) =>
    event.type === GAP ||
    ((types === undefined || types.some((type) => isOfType(event.type, type))) &&
      (batch === undefined || event.batch === batch) &&
      (ranges === undefined || isOfHost(event.host, ranges)));
}

function isOfType(type: string, wanted: string): boolean {
  return wanted.endsWith('.') ? type.startsWith(wanted) : type === wanted;
}

function isOfHost(host: string | null, ranges: readonly HostRange[]): boolean {
  return host !== null && host !== '' && matchesHost(hostKeys(host), ranges);
}
