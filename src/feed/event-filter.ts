import { z } from 'zod';
import { isOfKey, type OfKey } from '../capture/client.ts';
import type { VerdictName } from '../capture/verdict.ts';
import { GAP, type LoggedEvent } from '../storage/ports/event-log.ts';
import { type HostRange, hostKeys, hostRanges, matchesHost } from '../storage/records/hosts.ts';

/** A subscriber's filter; all given conditions must hold. */
export interface EventFilter {
  /** Event types, and prefixes of types such as `capture.`; undefined selects all. */
  readonly types: readonly string[] | undefined;
  /** Host, matched as in `by-host` queries. */
  readonly host: string | undefined;
  readonly batch: string | undefined;
  /** Verdict on the captured page. */
  readonly verdict?: VerdictName | undefined;
  /** The API key whose events alone the subscriber may see, as `visibleKey` returns it; undefined: all events. */
  readonly ofKey?: string | undefined;
}

/** Groups of events that concern no capture, which every subscriber may see. */
const SHARED = ['browser.', 'pressure.'];

/** Returns a key that is the same for all filters that select the same events. */
export function filterKey({ types, host, batch, verdict, ofKey }: EventFilter): string {
  return JSON.stringify([types?.toSorted(), host, batch, verdict, ofKey]);
}

/** Gaps always pass, because a missing event might have matched this subscriber. */
export function eventPredicate({ types, host, batch, verdict, ofKey }: EventFilter): (event: LoggedEvent) => boolean {
  const ranges = host === undefined ? undefined : hostRanges(host);
  return (event) =>
    event.type === GAP ||
    (isVisible(event, ofKey) &&
      (types === undefined || types.some((type) => isOfType(event.type, type))) &&
      (batch === undefined || event.batch === batch) &&
      (ranges === undefined || isOfHost(event.host, ranges)) &&
      (verdict === undefined || isOfVerdict(event, verdict)));
}

/** Returns whether a subscriber who sees the events of one API key alone, or all, may see an event. */
export function isVisible(event: OfKey & Pick<LoggedEvent, 'type'>, ofKey: string | undefined): boolean {
  return event.type === GAP || isOfKey(event, ofKey) || SHARED.some((group) => event.type.startsWith(group));
}

function isOfType(type: string, wanted: string): boolean {
  return wanted.endsWith('.') ? type.startsWith(wanted) : type === wanted;
}

function isOfVerdict({ type, body }: LoggedEvent, verdict: VerdictName): boolean {
  if (!type.startsWith('capture.')) return false;
  const { success, data } = judged.safeParse(JSON.parse(body));
  return success && data.result.verdict === verdict;
}

/** Events whose result has a verdict. */
const judged = z.looseObject({ result: z.looseObject({ verdict: z.string() }) });

function isOfHost(host: string | null, ranges: readonly HostRange[]): boolean {
  return host !== null && host !== '' && matchesHost(hostKeys(host), ranges);
}
