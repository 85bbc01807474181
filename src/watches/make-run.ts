import { CATALOGUE, CapstanError, type Failure, type FailureCode, failure, toFailure } from '../capture/errors.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { Result } from '../capture/result/result.ts';
import { COMPARED, type WatchRun } from '../capture/work/watch.ts';
import { conditionsIn } from '../capture/work/watch-values.ts';
import { infoIfReadable, nullIfDamaged } from '../storage/failures/store-errors.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import { decide, isUnknown, knownBy } from './decide.ts';
import { type Changes, type CompareParts, findChanges } from './find-changes.ts';
import { lacksValues, readValues } from './read-values.ts';
import { sayValues } from './say-values.ts';
import type { Progress, Summary } from './stored-form.ts';

export interface RunParts extends CompareParts {
  readonly artifacts: CompareParts['artifacts'] & Pick<ArtifactStore, 'open'>;
  /** Makes one capture. Rejects with a `CapstanError` when it is not admitted. */
  readonly capture: () => Promise<CaptureOutcome>;
  /** Called with unexpected errors. */
  readonly report: (error: unknown) => void;
}

type Run = Omit<WatchRun, 'due' | 'at'>;

interface MadeRun {
  /** Findings of the run; undefined when the service, and not the page, was the reason why there is no run. */
  readonly run: Run | undefined;
  /** The conditions on its values that hold, as `KnownValues` has them; undefined for none. */
  readonly held?: readonly string[] | undefined;
  /** Captures that were made and are not needed. */
  readonly spare: readonly number[];
}

/** Whether the service failed, and not the page: then the run is made later. */
function isOfService(code: FailureCode): boolean {
  const { retry } = CATALOGUE[code];
  return retry === 'soon' || retry === 'outage' || code === 'shutting_down' || code === 'cancelled';
}

const NOTHING = {
  capture: null,
  before: null,
  changed: [],
  share: null,
  regions: [],
  values: null,
  verdict: null,
  code: null,
  reason: null,
} satisfies Omit<WatchRun, 'due' | 'at' | 'state'>;

/**
 * Captures the page and compares it with the baseline and the accepted captures. Captures it a second time before a
 * change is reported. Never rejects: an unexpected error is a failed run, so that it is not repeated at once.
 */
export async function makeRun(
  definition: Pick<Summary, 'rules' | 'by'>,
  progress: Progress,
  parts: RunParts,
): Promise<MadeRun> {
  const made: number[] = [];
  try {
    const first = await parts.capture();
    if (first.state !== 'stored') return { run: failedRun(first.failure), spare: [] };
    made.push(first.result.id);
    const problem = problemOf(first.result, definition);
    if (problem !== undefined) return { run: { ...problem, capture: first.result.id }, spare: [] };
    const { run, held } = await judged(first.result, definition, progress, parts);
    if (run.state !== 'changed' || !definition.rules.confirm) return { run, held, spare: [] };

    const second = await parts.capture();
    if (second.state !== 'stored' || problemOf(second.result, definition) !== undefined) {
      if (second.state !== 'stored' && isOfService(second.failure.code)) return { run: undefined, spare: made };
      const reason = 'The change could not be confirmed: the page could not be captured again.';
      const spare = second.state === 'stored' ? [second.result.id] : [];
      return { run: { ...run, state: 'unconfirmed', reason }, spare };
    }
    made.push(second.result.id);
    const again = await judged(second.result, definition, progress, parts);
    const spare = [first.result.id];
    if (again.run.state === 'changed') return { ...again, spare };
    const reason = 'The change was gone when the page was captured again.';
    return { run: { ...again.run, state: 'unconfirmed', reason }, spare };
  } catch (error) {
    if (!(error instanceof CapstanError)) parts.report(error);
    return { run: failedRun(toFailure(error)), spare: made };
  }
}

function failedRun({ code, reason }: Failure): MadeRun['run'] {
  return isOfService(code) ? undefined : { ...NOTHING, state: 'failed', code, reason };
}

/** Returns the failed run of a page that shows no content, unless status or verdict are compared. */
function problemOf(
  { verdict, verdict_reasons: signs }: Result,
  { rules }: Pick<Summary, 'rules' | 'by'>,
): MadeRun['run'] {
  if (verdict === null || verdict === 'content' || rules.compare.status || rules.compare.verdict) return undefined;
  const reason = `The page is not content but ${verdict} (${signs.join(', ')}).`;
  return { ...NOTHING, state: 'failed', verdict, reason };
}

/** Compares a capture as the watch says it, and decides on its values. */
async function judged(
  result: Result,
  definition: Pick<Summary, 'rules' | 'by'>,
  progress: Progress,
  parts: RunParts,
): Promise<{ readonly run: Run; readonly held?: readonly string[] }> {
  const { compare, values: rules, when } = definition.rules;
  const isCompared = COMPARED.some((name) => compare[name] !== false);
  const run = await (isCompared ? compared(result, definition, progress, parts) : notCompared(result, progress, parts));
  if (rules === undefined || run.state === 'failed') return { run };
  const values = await readValues(result, rules, parts.artifacts);
  if (lacksValues(values, when)) {
    const reason = `The page has none of the values: ${Object.keys(values).join(', ')}.`;
    return { run: { ...NOTHING, capture: result.id, verdict: result.verdict, values, state: 'failed', reason } };
  }
  const known = knownBy(rules, progress.values);
  const { isNews, held } = decide(rules, when, values, known);
  if (!isNews || isUnknown(known)) return { run: { ...run, values }, held };
  const isSincePrevious = when !== undefined && conditionsIn(when).every(({ since }) => since === 'previous');
  const reason = sayValues(values, isSincePrevious ? known.previous : known.baseline);
  const { baseline, latest } = progress;
  const before = isSincePrevious && !isCompared ? await firstKept([latest, baseline], parts) : run.before;
  return { run: { ...run, before, values, state: 'changed', changed: [...run.changed, 'values'], reason }, held };
}

/** Of a watch that has only values. */
async function notCompared({ id, verdict }: Result, { baseline, latest }: Progress, parts: CompareParts): Promise<Run> {
  const found = { ...NOTHING, capture: id, verdict };
  if (baseline === null) return { ...found, state: 'first' };
  return { ...found, before: await firstKept([baseline, latest], parts), state: 'unchanged' };
}

/** Returns the first capture that was not removed and can be read. */
async function firstKept(captures: readonly (number | null)[], { artifacts }: CompareParts): Promise<number | null> {
  for (const id of captures) if (id !== null && (await infoIfReadable(artifacts, id)) !== undefined) return id;
  return null;
}

/** Compares a capture with the baseline and, when it differs, with the accepted captures. */
async function compared(
  { id, verdict, options_digest: digest }: Result,
  { rules, by }: Pick<Summary, 'rules' | 'by'>,
  { baseline, latest }: Progress,
  parts: CompareParts,
): Promise<Run> {
  const found = { ...NOTHING, capture: id, verdict };
  if ((await parts.artifacts.info(id)) === undefined) {
    return { ...found, state: 'failed', ...failure('artifact_elsewhere') };
  }
  for (const before of [baseline, latest]) {
    if (before === null || (await parts.artifacts.record(before).catch(nullIfDamaged))?.options_digest !== digest)
      continue;
    const changes = await findChanges(parts, rules, [before, id], by.owner);
    if (changes === undefined) continue;
    if (changes.changed.length === 0) return { ...found, ...changes, before, state: 'unchanged' };
    const accepted = await acceptedBy(rules.accept, (other) => findChanges(parts, rules, [other, id], by.owner));
    return accepted === undefined
      ? { ...found, ...changes, before, state: 'changed' }
      : { ...found, share: changes.share, before: accepted, state: 'unchanged' };
  }
  const reason = `The capture ${baseline} was removed, was made with other options, or does not have what is compared.`;
  return { ...found, state: 'first', ...(baseline !== null && { reason }) };
}

/** Returns the first accepted capture without a difference. */
async function acceptedBy(
  accepted: readonly number[],
  changesFrom: (id: number) => Promise<Changes | undefined>,
): Promise<number | undefined> {
  for (const id of accepted) if ((await changesFrom(id))?.changed.length === 0) return id;
  return undefined;
}
