import { z } from 'zod';
import { FailureCodeSchema } from '../capture/failure-code.ts';
import { HostFactsSchema } from '../capture/result/host-facts.ts';
import { unpackWords } from '../capture/result/page-words.ts';
import { VERDICTS } from '../capture/result/verdict.ts';
import type { LoggedEvent } from '../storage/ports/event-log.ts';
import { labelTerms, termsOf } from '../storage/records/terms.ts';
import { type IndexedWords, wordsIn } from '../words/find-words.ts';

/** Facts of an event, as far as filters ask for it. */
interface EventFacts {
  /** Those of the result, as lists of results have them; without a result, those of the labels. */
  readonly terms: ReadonlySet<string>;
  /** The perception hash of the result. */
  readonly hash: string | null;
  /** Share of pixels that a run of a watch found changed. */
  readonly share: number;
  /** Returns the words of the page of the result; null when they are not indexed. */
  readonly wordsOfPage: (() => IndexedWords) | null;
}

export type FactsOf = (event: LoggedEvent) => EventFacts;

const NOTHING: EventFacts = { terms: new Set(), hash: null, share: 0, wordsOfPage: null };

const OfCapture = z.object({
  result: z.object({
    title: z.string(),
    url: z.string(),
    final_url: z.string(),
    response_code: z.number(),
    failed: z.boolean(),
    failed_code: z.union([FailureCodeSchema, z.literal('')]),
    verdict: z.enum(VERDICTS).nullable(),
    options: z.record(z.string(), z.unknown()),
    options_withheld: z.array(z.string()),
    perception_hash: z.string().nullable(),
    scan: z.string().exactOptional(),
    labels: z.array(z.string()),
    hold: z.object({ at: z.string(), by: z.string() }).nullable(),
    remote_ip: z.string().nullable(),
    host_facts: HostFactsSchema.nullable(),
  }),
});

const WithLabels = z.object({ labels: z.array(z.string()) });

const OfWatch = z.object({ labels: z.array(z.string()), run: z.object({ share: z.number().nullable() }) });

/**
 * Returns a reader of facts that remembers the last event: it is asked for the same new event once for each subscriber
 * with a filter of its own.
 */
export function createFactsReader(): FactsOf {
  let last: { readonly event: LoggedEvent; readonly facts: EventFacts } | undefined;
  return (event) => {
    if (last?.event !== event) last = { event, facts: factsOf(event) };
    return last.facts;
  };
}

function factsOf({ type, body, words }: LoggedEvent): EventFacts {
  if (type.startsWith('capture.')) {
    const { success, data } = OfCapture.safeParse(JSON.parse(body));
    if (!success) return { ...NOTHING, terms: termsOfLabels(body) };
    const { result } = data;
    const wordsOfPage = words === undefined ? null : lazily(() => wordsIn(unpackWords(words).text));
    return { ...NOTHING, terms: new Set(termsOf(result)), hash: result.perception_hash, wordsOfPage };
  }
  if (type.startsWith('watch.')) {
    const { success, data } = OfWatch.safeParse(JSON.parse(body));
    return success ? { ...NOTHING, terms: new Set(labelTerms(data.labels)), share: data.run.share ?? 0 } : NOTHING;
  }
  return NOTHING;
}

/** Returns a function that does the work when it is first called. */
function lazily<T>(work: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: work() };
    return made.value;
  };
}

/** Events of captures without a result have their labels. */
function termsOfLabels(body: string): ReadonlySet<string> {
  const { success, data } = WithLabels.safeParse(JSON.parse(body));
  return new Set(success ? labelTerms(data.labels) : []);
}
