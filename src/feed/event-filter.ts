import { z } from 'zod';
import { canonicalJson } from '../capture/basics/canonical-json.ts';
import { isOfKey, type OfKey } from '../capture/client.ts';
import { isOfAllKeys } from '../capture/events.ts';
import { distanceOf } from '../capture/finding/looks.ts';
import { RECORDED_OUTCOMES } from '../capture/result/recorded-outcome.ts';
import { VERDICTS } from '../capture/result/verdict.ts';
import { GAP, type LoggedEvent } from '../storage/ports/event-log.ts';
import { type ChoiceCondition, wantedChoices } from '../storage/records/host-terms.ts';
import { type HostRange, hostKeys, hostRanges, matchesHost } from '../storage/records/hosts.ts';
import { type TermCondition, wantedTerms } from '../storage/records/terms.ts';
import { meetsWords } from '../words/find-words.ts';
import { wordsQuery } from '../words/query.ts';
import type { FactsOf } from './event-facts.ts';

/** Conditions on the result of a capture, as lists of results have them, apart from the times. */
const ResultWhereSchema = z.object({
  status: z.string().optional(),
  outcome: z.enum(RECORDED_OUTCOMES).optional(),
  verdict: z.enum(VERDICTS).optional(),
  text: z.string().optional(),
  words: z.string().optional(),
  option: z
    .array(z.object({ name: z.string(), value: z.string().optional() }))
    .readonly()
    .optional(),
  scan: z.string().optional(),
  label: z.array(z.string()).readonly().optional(),
  held: z.literal('true').optional(),
  address: z.string().optional(),
  server: z.string().optional(),
  poweredBy: z.string().optional(),
  contentSecurityPolicy: z.enum(['true', 'false']).optional(),
  hsts: z.enum(['true', 'false']).optional(),
  certificate: z.string().optional(),
  certificateIssuer: z.string().optional(),
  certificateExpiresBefore: z.string().optional(),
  favicon: z.string().optional(),
  cname: z.string().optional(),
  technology: z.string().optional(),
} satisfies Record<TermCondition | ChoiceCondition | 'words', z.ZodType>);

/** A subscriber's filter; all given conditions must hold. Standing queries store it as JSON. */
export const EventFilterSchema = z.object({
  /** Event types and groups such as `capture.*`; undefined selects all. */
  types: z.array(z.string()).readonly().optional(),
  /** Host, matched as in `by-host` queries. */
  host: z.string().optional(),
  batch: z.string().optional(),
  /** Only events of captures with a result meet a condition on it; all events of captures and watches have labels. */
  where: ResultWhereSchema.optional(),
  /** Id and perception hash of a capture, and the number of bits in which the hash of the result may differ. */
  similar: z.object({ to: z.int(), hash: z.string(), distance: z.int() }).optional(),
  /** Share of changed pixels that a run of a watch must exceed. */
  changedMoreThan: z.number().optional(),
  /** The API key whose events alone the subscriber may see, as `visibleKey` returns it; undefined: all events. */
  ofKey: z.string().optional(),
});

export type EventFilter = Readonly<z.output<typeof EventFilterSchema>>;

/** Returns a key that is the same for all filters that select the same events. */
export function filterKey(filter: EventFilter): string {
  return canonicalJson({ ...filter, types: filter.types?.toSorted() }) ?? '';
}

/** Gaps in the events that the subscriber may see always pass, because a missing event might have matched. */
export function eventPredicate(filter: EventFilter, factsOf: FactsOf): (event: LoggedEvent) => boolean {
  const { types, host, batch, ofKey } = filter;
  const ranges = host === undefined ? undefined : hostRanges(host);
  const meets = factsPredicate(filter, factsOf);
  return (event) =>
    isVisible(event, ofKey) &&
    (event.type === GAP ||
      ((types === undefined || types.some((type) => isOfType(event.type, type))) &&
        (batch === undefined || event.batch === batch) &&
        (ranges === undefined || isOfHost(event.host, ranges)) &&
        meets(event)));
}

/** Returns whether a subscriber who sees the events of one API key alone, or all, may see an event. */
export function isVisible(event: OfKey & Pick<LoggedEvent, 'type'>, ofKey: string | undefined): boolean {
  const isOfNoKey = event.api_key_name === undefined;
  return isOfKey(event, ofKey) || (event.type === GAP && isOfNoKey) || isOfAllKeys(event.type);
}

function isOfType(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** Looks into the event only when there is a condition on what it says. */
function factsPredicate(
  { where = {}, similar, changedMoreThan }: EventFilter,
  factsOf: FactsOf,
): (event: LoggedEvent) => boolean {
  const wanted = wantedTerms(where);
  const choices = wantedChoices(where);
  const words = where.words === undefined ? undefined : wordsQuery(where.words);
  const isAny = wanted.length + choices.length === 0 && words === undefined;
  if (isAny && similar === undefined && changedMoreThan === undefined) return () => true;
  return (event) => {
    const { terms, hash, share, wordsOfPage } = factsOf(event);
    return (
      wanted.every((term) => terms.has(term)) &&
      choices.every((choice) => choice.some((term) => terms.has(term))) &&
      (words === undefined || (wordsOfPage !== null && meetsWords(wordsOfPage(), words))) &&
      (similar === undefined || (hash !== null && distanceOf(hash, similar.hash) <= similar.distance)) &&
      (changedMoreThan === undefined || share > changedMoreThan)
    );
  };
}

function isOfHost(host: string | null, ranges: readonly HostRange[]): boolean {
  return host !== null && host !== '' && matchesHost(hostKeys(host), ranges);
}
