import { text as readText } from 'node:stream/consumers';
import { finalize, firstValueFrom, type Observable, takeUntil } from 'rxjs';
import type { ArtifactKind } from '../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../capture/artifacts/screenshot-info.ts';
import { type Difference, MAX_COMPARED_PIXELS, NOTHING_IGNORED, type Place } from '../capture/comparison/comparison.ts';
import { CapstanError } from '../capture/errors.ts';
import { createBoundedWork } from '../fairness/work-in-turn.ts';
import type { ArtifactStore, OpenArtifact, ReadableFile } from '../storage/ports/artifact-store.ts';
import type { Compared, Pair } from './comparison/compared.ts';
import { createComparisonThread, type ThreadOptions } from './comparison/comparison-thread.ts';
import { lineOf } from './comparison/ignored-texts.ts';
import { inTurn } from './in-turn.ts';

/** Maximum number of comparisons at once: each holds up to 40 MiB of decoded rows in memory. */
const MAX_AT_ONCE = 1;
/** Maximum number of comparisons under way, of which each key has a share. */
const MAX_WAITING = 100;

interface ComparisonOptions extends Partial<Pick<Compared, 'ignore' | 'inAnyOrder' | 'draws' | 'places'>> {
  /** Leaves the images out: their difference is empty. */
  readonly skipsImages?: boolean;
  /** Selectors of the elements whose changes are listed; by default all. */
  readonly onlyElements?: readonly string[];
}

interface CompareAnswer {
  readonly difference: Difference;
  /** The elements around the regions, if they were wanted; none unless both captures have element maps. */
  readonly around: readonly Place[];
  /** Both images beside each other as PNG, with the regions marked, if that was wanted. The caller streams or closes it. */
  readonly drawing: ReadableFile | null;
}

const UNCHANGED = { regions: [], truncated: false, changed_pixels: 0, share: 0 } satisfies Partial<Difference>;

export type Comparisons = ReturnType<typeof createComparisons>;

/** `staging` resolves with the directory for large images. */
export function createComparisons(
  artifacts: Pick<ArtifactStore, 'open' | 'record'>,
  staging: () => Promise<string>,
  options: ThreadOptions = {},
) {
  const inTurnOfOwner = createBoundedWork({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING, what: 'comparisons' });
  const thread = createComparisonThread(staging, options);

  /** Opens both or none. Undefined when one of them does not have the file; rejects when one cannot be opened. */
  async function openBoth(ids: Pair<number>, kind: ArtifactKind): Promise<Pair<OpenArtifact> | undefined> {
    const opening = await Promise.allSettled([artifacts.open(ids[0], kind), artifacts.open(ids[1], kind)]);
    const [before, after] = opening.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
    if (before !== undefined && after !== undefined) return [before, after];
    await Promise.all([before?.close(), after?.close()]);
    for (const one of opening) if (one.status === 'rejected') throw one.reason;
    return undefined;
  }

  /** Undefined when one of them was removed. */
  async function openImages(ids: Pair<number>): Promise<Pair<ReadableFile> | undefined> {
    const opened = await openBoth(ids, 'image');
    if (opened === undefined) return undefined;
    const [before, after] = opened;
    if (before.info.sha256 !== after.info.sha256) return opened;
    await after.close();
    return [before, before];
  }

  /** Null when one of them does not have the output. */
  async function readOutputs(ids: Pair<number>, kind: ArtifactKind): Promise<Pair<string> | null> {
    const opened = await openBoth(ids, kind);
    return opened === undefined ? null : Promise.all([readText(opened[0].stream()), readText(opened[1].stream())]);
  }

  /** Names the capture that has no element map. */
  async function withoutMap(ids: Pair<number>): Promise<CapstanError> {
    const first = await artifacts.open(ids[0], 'elements');
    await first?.close();
    const lacking = first === undefined ? ids[0] : ids[1];
    return new CapstanError(
      'no_element_map',
      `The capture ${lacking} has no element map: no element can be found in it.`,
    );
  }

  async function compare(
    ids: Pair<number>,
    {
      ignore = NOTHING_IGNORED,
      inAnyOrder = false,
      onlyElements,
      skipsImages = false,
      draws = false,
      places = false,
    }: ComparisonOptions,
  ): Promise<CompareAnswer | undefined> {
    const [old, now, maps, texts, links] = await Promise.all([
      artifacts.record(ids[0]),
      artifacts.record(ids[1]),
      readOutputs(ids, 'elements'),
      readOutputs(ids, 'text'),
      readOutputs(ids, 'links'),
    ]);
    if (old === undefined || now === undefined) return undefined;
    if (maps === null && (ignore.selectors.length > 0 || onlyElements !== undefined)) throw await withoutMap(ids);
    const inThread = async (known: typeof maps) => {
      const images = skipsImages ? null : await openImages(ids);
      if (images === undefined) return undefined;
      const how = { onlyElements: onlyElements ?? null, ignore, inAnyOrder, draws, places };
      return inTurn(() => thread.compare({ images, texts, links, maps: known, ...how }));
    };
    const found = await inThread(maps).catch((error: unknown) => {
      // No page may escape its comparison by its elements, also where selectors then match nothing.
      if (maps === null) throw error;
      return inThread(null);
    });
    if (found === undefined) return undefined;
    const { visual, drawing, around, ...words } = found;
    const [titleOfOld, titleOfNow] = [lineOf(old.title, ignore.texts), lineOf(now.title, ignore.texts)];
    const difference = {
      ...(visual ?? UNCHANGED),
      ...words,
      title: titleOfOld.words === titleOfNow.words ? null : { from: titleOfOld.shown, to: titleOfNow.shown },
      response_code: changeOf(old.response_code, now.response_code),
      verdict: changeOf(old.verdict, now.verdict),
    };
    return { difference, around, drawing };
  }

  return {
    /**
     * Compares two stored captures; undefined when one was removed meanwhile. Owners take turns. The comparison is
     * skipped when, before it starts, `gone` has emitted an error.
     *
     * @throws CapstanError `not_an_image` for a PDF, `comparison_too_large`, `no_element_map` with selectors, or
     * `queue_full`.
     */
    of: async (
      before: ScreenshotInfo,
      after: ScreenshotInfo,
      gone: Observable<never>,
      owner: string | null,
      how: ComparisonOptions = {},
    ): Promise<CompareAnswer | undefined> => {
      if (how.skipsImages !== true) for (const info of [before, after]) refuseOthers(info);
      let isOver = false;
      const compared = inTurnOfOwner(owner, async () => {
        const answer = await compare([before.id, after.id], how);
        if (isOver) await answer?.drawing?.close();
        return answer;
      });
      const over = () => {
        isOver = true;
      };
      return firstValueFrom(compared.pipe(takeUntil(gone), finalize(over)));
    },
  };
}

function refuseOthers({ id, format, width, height }: ScreenshotInfo): void {
  if (format === 'pdf') throw new CapstanError('not_an_image', `The capture ${id} is a PDF, which cannot be compared.`);
  if (width * height <= MAX_COMPARED_PIXELS) return;
  throw new CapstanError(
    'comparison_too_large',
    `The image of the capture ${id} has ${width} by ${height} pixels; at most ${MAX_COMPARED_PIXELS} are compared.`,
  );
}

/** Null when nothing changed. */
function changeOf<T>(from: T, to: T): { readonly from: T; readonly to: T } | null {
  return from === to ? null : { from, to };
}
