import { lastValueFrom, map, type Observable, takeUntil, toArray } from 'rxjs';
import type { ScreenshotInfo } from '../capture/artifacts/screenshot-info.ts';
import type { Client } from '../capture/client.ts';
import { MAX_IGNORED } from '../capture/comparison/comparison.ts';
import { MAX_LIST_CHARACTERS } from '../capture/comparison/element-selector.ts';
import { MAX_UNSTABLE, type Stability, type UnstableElement } from '../capture/comparison/stability.ts';
import { CapstanError } from '../capture/errors.ts';
import type { BatchItem } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import { type Compared, findUnstable, Spots } from './find-unstable.ts';
import { captureOrder, type Variation, variationsOf } from './variations.ts';

export interface StabilityParts {
  readonly capture: (requests: readonly CaptureRequest[], by: Client) => Observable<BatchItem>;
  readonly comparisons: Comparisons;
  /** Returns the data of a stored capture for comparisons. Rejects with a `CapstanError` when it was removed. */
  readonly infoOf: (id: number) => Promise<ScreenshotInfo>;
}

/**
 * Captures a page several times as one batch, and compares the captures. Stops when `gone` emits an error. Rejects with
 * the `CapstanError` of the first capture that fails.
 */
export async function checkStability(
  parts: StabilityParts,
  wanted: CaptureRequest,
  by: Client,
  gone: Observable<never>,
): Promise<Stability> {
  const variations = variationsOf(wanted);
  const order = captureOrder(variations);
  // Those that wait longest begin first, so that the check ends soonest.
  const asked = order.toSorted((one, other) => other.request.delayMs - one.request.delayMs);
  const stored = await lastValueFrom(
    parts
      .capture(
        asked.map(({ request }) => request),
        by,
      )
      .pipe(
        map(({ index, outcome }) => {
          if (outcome.state !== 'stored') throw new CapstanError(outcome.failure.code, outcome.failure.reason);
          return [asked[index], outcome.result.id] as const;
        }),
        takeUntil(gone),
        toArray(),
      ),
  );
  const ids = new Map(stored);
  const idOf = (variation: Variation) => ids.get(variation) ?? 0;
  const spots = new Spots();
  const compare = async (one: Variation, other: Variation): Promise<Compared> => {
    const compared = { before: idOf(one), after: idOf(other) };
    const [old, now] = [await parts.infoOf(compared.before), await parts.infoOf(compared.after)];
    const found = await parts.comparisons.of(old, now, gone, by.owner, { places: true });
    spots.add(compared, found?.around ?? []);
    return compared;
  };
  const { first, again, clock, randomness, animation, times, ads, adsAgain } = variations;
  const named = {
    again: await compare(first, again),
    clock: await compare(first, clock),
    randomness: await compare(first, randomness),
    animation: await compare(first, animation),
    withoutAds: await compare(first, ads),
    bothWithoutAds: await compare(ads, adsAgain),
  };
  const later: Compared[] = [];
  const inTurn: Compared[] = [];
  for (const [index, time] of times.entries()) {
    later.push(await compare(first, time));
    const last = times[index - 1];
    if (last !== undefined) inTurn.push(await compare(last, time));
  }
  const unstable = findUnstable(spots, { ...named, later, inTurn });
  return {
    stable: unstable.length === 0,
    unstable: unstable.slice(0, MAX_UNSTABLE),
    truncated: unstable.length > MAX_UNSTABLE || spots.isCut,
    ignore: ignoring(unstable),
    captures: order.map((variation) => ({ id: idOf(variation), varied: variation.varied })),
  };
}

/** Returns the first elements that one list of `ignore` has room for. */
function ignoring(unstable: readonly UnstableElement[]): readonly string[] {
  let room = MAX_LIST_CHARACTERS;
  const isRoom = ({ selector }: UnstableElement) => {
    room -= selector.length;
    return room >= 0;
  };
  const end = unstable.findIndex((each) => !isRoom(each));
  const listed = end === -1 ? unstable : unstable.slice(0, end);
  return listed.slice(0, MAX_IGNORED).map(({ selector }) => `selector:${selector}`);
}
