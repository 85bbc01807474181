import { NEVER } from 'rxjs';
import type { Region } from '../capture/comparison/comparison.ts';
import { COMPARED, type Compared, MAX_REGIONS_OF_RUN, type WatchRules } from '../capture/work/watch.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import { infoIfReadable } from '../storage/failures/store-errors.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';

export interface CompareParts {
  readonly artifacts: Pick<ArtifactStore, 'info' | 'record'>;
  readonly comparisons: Pick<Comparisons, 'of'>;
}

/** Differences between two captures of a page. */
export interface Changes {
  readonly changed: readonly Compared[];
  /** Changed pixels of all pixels after alignment; null when images were not compared. */
  readonly share: number | null;
  readonly regions: readonly Region[];
}

/**
 * Compares what the rules name. Returns undefined when one of the captures was removed, or when the earlier one lacks
 * what is compared. Rejects with a `CapstanError` when the images cannot be compared, or with `queue_full`. `owner`:
 * the owner of the comparison in the queue.
 */
export async function findChanges(
  { artifacts, comparisons }: CompareParts,
  { compare, ignore }: Pick<WatchRules, 'compare' | 'ignore'>,
  [before, after]: readonly [number, number],
  owner: string | null,
): Promise<Changes | undefined> {
  const [old, now] = [await infoIfReadable(artifacts, before), await artifacts.info(after)];
  if (old === undefined || now === undefined) return undefined;
  const { visual, elements: selectors } = compare;
  const needed = [
    ...(compare.text ? (['text'] as const) : []),
    ...(compare.links ? (['links'] as const) : []),
    ...(selectors !== false || ignore.selectors.length > 0 ? (['elements'] as const) : []),
  ];
  // A script may have blocked the page then: there is nothing to compare with.
  const has = needed.length === 0 ? [] : ((await artifacts.record(before))?.artifacts?.kinds ?? []);
  if (needed.some((kind) => !has.includes(kind))) return undefined;
  const compared = await comparisons.of(old, now, NEVER, owner, {
    ignore,
    skipsImages: visual === false,
    ...(selectors !== false && { onlyElements: selectors }),
  });
  if (compared === undefined) return undefined;
  const { share, regions, text, links, elements, response_code: status, title, verdict } = compared.difference;
  const differs: Readonly<Record<Compared, boolean>> = {
    visual: visual !== false && share > visual.threshold,
    text: text !== null && text.added + text.removed > 0,
    links: links !== null && links.added.length + links.removed.length > 0,
    // Null when they take too long to compare, by which no page may escape its watch.
    elements: elements === null || elements.changes.length > 0,
    status: status !== null,
    title: title !== null,
    verdict: verdict !== null,
  };
  return {
    changed: COMPARED.filter((name) => compare[name] !== false && differs[name]),
    share: visual === false ? null : share,
    regions: differs.visual ? regions.slice(0, MAX_REGIONS_OF_RUN) : [],
  };
}
