import { type OfKey, ofKey } from '../capture/client.ts';
import type { WatchEvent, WatchNews } from '../capture/events.ts';
import type { WatchRun } from '../capture/work/watch.ts';
import type { WatchedValues } from '../capture/work/watch-values.ts';
import { isUnknown, type KnownValues, knownAfter, knownBy } from './decide.ts';
import type { DecidedRun, Progress, Summary } from './stored-form.ts';

/** The watch of an event. */
export interface WatchFacts extends OfKey {
  readonly id: number;
  readonly url: string;
  readonly host: string;
  readonly labels: readonly string[];
}

/** Returns the events of a run, in order: the run itself, and what it means after the runs before it. */
export function eventsOf(
  id: number,
  { url, host, rules, by }: Summary,
  before: Progress,
  run: WatchRun,
): readonly WatchEvent[] {
  const facts = { id, url, host, labels: rules.labels, ...ofKey(by.apiKeyName) };
  return [{ ...aboutRun(facts, run), type: 'watch.run' }, ...newsOf(facts, run, before.failures > 0)];
}

/** Returns what a run means after the runs before it, in order. `hadFailed`: whether the last of them had failed. */
function newsOf(facts: WatchFacts, run: WatchRun, hadFailed: boolean): readonly WatchNews[] {
  const about = aboutRun(facts, run);
  const news: WatchNews[] = [];
  if (run.state === 'failed' && !hadFailed) news.push({ ...about, type: 'watch.failed' });
  if (run.state !== 'failed' && hadFailed) news.push({ ...about, type: 'watch.recovered' });
  if (run.state === 'changed') {
    const comparison = run.before === null ? null : `/compare?a=${run.before}&b=${run.capture}`;
    news.push({ ...about, type: 'watch.changed', comparison });
  }
  return news;
}

/**
 * Returns the news of consecutive runs; news and runs are newest first. `isFirst`: whether the oldest run is the first
 * one of its watch. If not, it is unknown whether its failure or success was news, so neither counts.
 */
export function newsOfRuns(facts: WatchFacts, runs: readonly WatchRun[], isFirst: boolean): readonly WatchNews[] {
  return runs.flatMap((run, at) => {
    const before = runs[at + 1];
    const hadFailed = before === undefined ? !isFirst && run.state === 'failed' : before.state === 'failed';
    return newsOf(facts, run, hadFailed).toReversed();
  });
}

function aboutRun({ id: watch, url, host, labels, api_key_name: name }: WatchFacts, run: WatchRun) {
  return { at: run.at, watch, url, host, labels: [...labels], ...ofKey(name), run };
}

/** Returns the progress after a run. */
export function progressAfter(
  before: Progress,
  decided: DecidedRun,
  { values }: Pick<Summary['rules'], 'values'>,
): Progress {
  const { run } = decided;
  const { runs, changes, failures } = before;
  const next = { ...before, runs: runs + 1, lastRun: run, values: valuesAfter(before, decided, values) };
  switch (run.state) {
    case 'failed':
      return { ...next, failures: failures + 1 };
    case 'first':
    case 'changed':
      return {
        ...next,
        failures: 0,
        baseline: run.capture,
        latest: run.capture,
        changes: changes + (run.state === 'changed' ? 1 : 0),
      };
    case 'unchanged':
      return { ...next, failures: 0, ...unchangedSince(before, run) };
    case 'unconfirmed':
      return { ...next, failures: 0 };
  }
}

function valuesAfter(
  { values: before }: Progress,
  { run, held }: DecidedRun,
  values: WatchedValues | undefined,
): KnownValues {
  const isCounted = run.state !== 'failed' && run.state !== 'unconfirmed';
  if (values === undefined || run.values === null || !isCounted) return before;
  const known = knownBy(values, before);
  // Later values are compared with the first ones: conditions that hold from the start are reported by the second run.
  if (isUnknown(known)) return knownAfter(known, run.values, [], true);
  return knownAfter(known, run.values, held, run.changed.includes('values'));
}

/** A removed baseline is replaced by the capture that was compared in its place. An accepted capture is not. */
function unchangedSince({ baseline, latest }: Progress, run: WatchRun): Pick<Progress, 'baseline' | 'latest'> {
  if (run.before === baseline) return { baseline, latest: run.capture };
  return run.before === latest ? { baseline: latest, latest: run.capture } : { baseline, latest };
}
