import { buffer } from 'node:stream/consumers';
import { defer, finalize, firstValueFrom, type Observable, takeUntil } from 'rxjs';
import { MAX_COMPARED_PIXELS, type PictureDifference } from '../capture/comparison.ts';
import { CapstanError } from '../capture/errors.ts';
import type { ScreenshotInfo } from '../capture/screenshot-info.ts';
import { createPlaces } from '../capture/share.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import { createWorkInTurn } from '../streams/work-in-turn.ts';
import { compareInThread } from './comparison/compare-in-thread.ts';
import { inTurn } from './in-turn.ts';

/** Maximum number of comparisons at once: each holds two images in memory, at most 256 MiB. */
const MAX_AT_ONCE = 1;
/** Maximum number of comparisons under way, of which each key has a share. */
const MAX_WAITING = 100;
/** Value of `Retry-After`, in seconds: several of the waiting comparisons are made in that time. */
const RETRY_AFTER_SECONDS = 5;

export interface Comparisons {
  /**
   * Compares the images of two stored captures; undefined when one was removed meanwhile. Owners take turns. The
   * comparison is skipped when, before it starts, `gone` has emitted an error.
   *
   * @throws CapstanError `not_an_image` for a PDF, `comparison_too_large`, or `queue_full`.
   */
  of(
    before: ScreenshotInfo,
    after: ScreenshotInfo,
    gone: Observable<never>,
    owner: string | null,
  ): Promise<PictureDifference | undefined>;
}

export function createComparisons(artifacts: Pick<ArtifactStore, 'open'>): Comparisons {
  const turns = createWorkInTurn(MAX_AT_ONCE);
  const places = createPlaces(MAX_WAITING + MAX_AT_ONCE);

  async function read(id: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const artifact = await artifacts.open(id, 'image');
    return artifact === undefined ? undefined : new Uint8Array(await buffer(artifact.stream()));
  }

  async function compare(a: number, b: number): Promise<PictureDifference | undefined> {
    const before = await read(a);
    const after = await read(b);
    return before === undefined || after === undefined ? undefined : inTurn(() => compareInThread(before, after));
  }

  return {
    of: async (before, after, gone, owner) => {
      for (const info of [before, after]) refuseOthers(info);
      const compared = defer(() => {
        const leave = places.take(owner);
        if (leave === undefined) {
          throw new CapstanError('queue_full', `${places.taken} comparisons are waiting to be made.`, {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          });
        }
        return turns.run(owner, () => compare(before.id, after.id)).pipe(finalize(leave));
      });
      return firstValueFrom(compared.pipe(takeUntil(gone)));
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
