import { createRetention, type Retention, type RetentionOptions } from '../../src/storage/captures/retention.ts';
import { holdLock } from '../../src/storage/files/held-lock.ts';
import { retentionLock } from '../../src/storage/files/layout.ts';
import { firstIdAt } from '../../src/storage/records/ids.ts';
import type { Parts } from './parts.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const NOW = Date.UTC(2026, 5, 15, 12);

export type RetentionLimits = Partial<RetentionOptions['limits']>;

/** Returns the id of a capture of this age. */
export function idOfAge(ms: number): number {
  return firstIdAt(new Date(NOW - ms)) + 7;
}

export function retentionOf(
  parts: Parts,
  limits: RetentionLimits,
  options: Partial<RetentionOptions> & Pick<RetentionOptions, 'onProblem'>,
): Retention {
  return createRetention({
    limits: { days: null, ofLabels: new Map(), bytes: null, ...limits },
    artifacts: parts.artifacts,
    results: parts.results,
    remove: (ids) => parts.captureStore.remove(ids),
    lock: async () => holdLock(retentionLock(parts.data.path)),
    clock: () => NOW,
    ...options,
  });
}

/** Returns the ids that have files, and those that have records, newest first. */
export async function keptIn({ artifacts, results }: Parts) {
  return {
    files: (await artifacts.list(1000)).map(({ id }) => id),
    records: (await results.page({ by: 'all' }, 1000)).map(({ id }) => id),
  };
}
