import { buffer } from 'node:stream/consumers';
import { finalize, firstValueFrom, type Observable, share, takeUntil } from 'rxjs';
import type { ScreenshotInfo } from '../capture/artifacts/screenshot-info.ts';
import { type Thumbnail, thumbnailName } from '../capture/artifacts/thumbnail.ts';
import { CapstanError } from '../capture/errors.ts';
import { createBoundedWork } from '../fairness/work-in-turn.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import type { ThumbnailStore } from '../storage/ports/thumbnail-store.ts';
import { inTurn } from './in-turn.ts';
import { renderThumbnail } from './render-thumbnail.ts';

/** Maximum number of images that are held in memory to make thumbnails of them. */
const MAX_AT_ONCE = 2;
/** Maximum number of thumbnails under way, of which each key has a share: several screens of a gallery. */
const MAX_WAITING = 1000;

export type Thumbnails = ReturnType<typeof createThumbnails>;

export function createThumbnails(artifacts: Pick<ArtifactStore, 'open' | 'has'>, store: ThumbnailStore) {
  const inTurnOfOwner = createBoundedWork({ atOnce: MAX_AT_ONCE, maxWaiting: MAX_WAITING, what: 'thumbnails' });
  const underway = new Map<string, Observable<Buffer | undefined>>();

  async function make(id: number, wanted: Thumbnail): Promise<Buffer | undefined> {
    // Another owner's request may have made it meanwhile.
    const stored = await store.read(id, thumbnailName(wanted));
    if (stored !== undefined) return stored;
    const artifact = await artifacts.open(id, 'image');
    if (artifact === undefined) return undefined;
    const image = await buffer(artifact.stream());
    const thumbnail = await inTurn(() => renderThumbnail(image, wanted));
    await store.write(id, thumbnailName(wanted), thumbnail);
    // The capture may have been removed meanwhile; its thumbnail must then not remain.
    if (!(await artifacts.has(id))) await store.remove(id);
    return thumbnail;
  }

  /** Returns the rendering that equal requests share. A waiting rendering is dropped with its last subscriber. */
  function shared(id: number, wanted: Thumbnail, owner: string | null): Observable<Buffer | undefined> {
    const key = JSON.stringify([owner, id, thumbnailName(wanted)]);
    const running = underway.get(key);
    if (running !== undefined) return running;
    const made = inTurnOfOwner(owner, () => make(id, wanted)).pipe(
      finalize(() => underway.delete(key)),
      share(),
    );
    underway.set(key, made);
    return made;
  }

  return {
    /**
     * Returns a thumbnail of a stored capture, from the cache or newly made; undefined when there is no such capture.
     * Owners take turns, and concurrent requests of an owner for the same thumbnail share one rendering. The rendering
     * is skipped when, before it starts, `gone` has emitted an error for every caller.
     *
     * @throws CapstanError `not_an_image` for a PDF, `queue_full` while too many are under way, or as many as the
     * owner's share.
     */
    of: async (
      { id, format }: ScreenshotInfo,
      wanted: Thumbnail,
      gone: Observable<never>,
      owner: string | null = null,
    ): Promise<Buffer | undefined> => {
      if (format === 'pdf') {
        throw new CapstanError('not_an_image', `The capture ${id} is a PDF, of which no thumbnail can be made.`);
      }
      const stored = await store.read(id, thumbnailName(wanted));
      return stored ?? firstValueFrom(shared(id, wanted, owner).pipe(takeUntil(gone)));
    },
  };
}
