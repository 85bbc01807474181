import { ofKey } from '../capture/client.ts';
import type { WatchEvent } from '../capture/events.ts';
import type { WatchRun } from '../capture/watch.ts';
import { decide, isUnknown, type KnownValues, knownAfter, knownBy } from './decide.ts';
import type { Progress, Summary } from './stored-form.ts';

/** Returns the events of a run, in order: the run itself, and what it means after the runs before it. */
export function eventsOf(
  id: number,
  { url, host, rules, by }: Summary,
  before: Progress,
  run: WatchRun,
): readonly WatchEvent[] {
  const about = { at: run.at, watch: id, url, host, labels: [...rules.labels], ...ofKey(by.apiKeyName), run };
  const events: WatchEvent[] = [{ ...about, type: 'watch.run' }];
  const hadFailed = before.failures > 0;
  if (run.state === 'failed' && !hadFailed) events.push({ ...about, type: 'watch.failed' });
  if (run.state !== 'failed' && hadFailed) events.push({ ...about, type: 'watch.recovered' });
  if (run.state === 'changed') {
    const comparison = run.before === null ? null : `/compare?a=${run.before}&b=${run.capture}`;
    events.push({ ...about, type: 'watch.changed', comparison });
  }
  return events;
}

/** Returns the progress after a run. */
export function progressAfter(
  before: Progress,
  run: WatchRun,
  rules: Pick<Summary['rules'], 'values' | 'when'>,
): Progress {
  const { runs, changes, failures } = before;
  const next = { ...before, runs: runs + 1, lastRun: run, values: valuesAfter(before, run, rules) };
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
  run: WatchRun,
  { values, when }: Pick<Summary['rules'], 'values' | 'when'>,
): KnownValues {
  const isCounted = run.state !== 'failed' && run.state !== 'unconfirmed';
  if (values === undefined || run.values === null || !isCounted) return before;
  const known = knownBy(values, before);
  // The first values are what later ones are compared with: what holds then is told by the second run.
  if (isUnknown(known)) return knownAfter(known, run.values, [], true);
  const { held } = decide(values, when, run.values, known);
  return knownAfter(known, run.values, held, run.changed.includes('values'));
}

/** A removed baseline is replaced by the capture that was compared in its place. An accepted capture is not. */
function unchangedSince({ baseline, latest }: Progress, run: WatchRun): Pick<Progress, 'baseline' | 'latest'> {
  if (run.before === baseline) return { baseline, latest: run.capture };
  return run.before === latest ? { baseline: latest, latest: run.capture } : { baseline, latest };
}
