import { GAP, type LoggedEvent } from '../storage/event-log.ts';
import { type HostRange, hostKeys, hostRanges, matchesHost } from '../storage/hosts.ts';

/** What a subscriber asks for; all that is given must hold. */
export interface EventFilter {
  /** Types, and groups of them as `capture.`; undefined: all. */
  readonly types: readonly string[] | undefined;
  /** With the meaning of by-host. */
  readonly host: string | undefined;
  readonly batch: string | undefined;
}

/** Filters of one key let the same events through. */
export function filterKey({ types, host, batch }: EventFilter): string {
  return JSON.stringify([types?.toSorted(), host, batch]);
}

/** Gaps are let through always: what is missing might have been for this subscriber. */
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
