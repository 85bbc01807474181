import { text as readText } from 'node:stream/consumers';
import { NEVER } from 'rxjs';
import type { Region } from '../capture/comparison.ts';
import { type Compared, MAX_REGIONS_OF_RUN, type WatchRules } from '../capture/watch.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';

export interface CompareParts {
  readonly artifacts: Pick<ArtifactStore, 'info' | 'open' | 'record'>;
  readonly comparisons: Pick<Comparisons, 'of'>;
}

/** What differs between two captures of a page. */
export interface Changes {
  readonly changed: readonly Compared[];
  /** Changed pixels of all pixels after alignment; null when pictures were not compared. */
  readonly share: number | null;
  readonly regions: readonly Region[];
}

/**
 * Compares what the rules name; undefined when one of the captures was removed. Rejects with a `CapstanError` when their
 * pictures cannot be compared, or with `queue_full`. `owner`: whose turn the comparison takes.
 */
export async function findChanges(
  { artifacts, comparisons }: CompareParts,
  rules: WatchRules['compare'],
  [before, after]: readonly [number, number],
  owner: string | null,
): Promise<Changes | undefined> {
  const changed: Compared[] = [];
  let share: number | null = null;
  let regions: readonly Region[] = [];
  const [old, now] = [await artifacts.record(before), await artifacts.record(after)];
  if (old === undefined || now === undefined) return undefined;
  if (rules.visual !== false) {
    const [oldInfo, info] = [await artifacts.info(before), await artifacts.info(after)];
    if (oldInfo === undefined || info === undefined) return undefined;
    const difference = await comparisons.of(oldInfo, info, NEVER, owner);
    if (difference === undefined) return undefined;
    share = difference.share;
    if (share > rules.visual.threshold) {
      changed.push('visual');
      regions = difference.regions.slice(0, MAX_REGIONS_OF_RUN);
    }
  }
  if (rules.text && (await textOf(artifacts, before)) !== (await textOf(artifacts, after))) changed.push('text');
  if (rules.status && old.response_code !== now.response_code) changed.push('status');
  if (rules.title && old.title !== now.title) changed.push('title');
  if (rules.verdict && old.verdict !== now.verdict) changed.push('verdict');
  return { changed, share, regions };
}

/** Returns the painted text of a capture; empty without that output. */
async function textOf(artifacts: CompareParts['artifacts'], id: number): Promise<string> {
  const artifact = await artifacts.open(id, 'text');
  return artifact === undefined ? '' : readText(artifact.stream());
}
