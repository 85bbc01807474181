import { buffer } from 'node:stream/consumers';
import { NEVER } from 'rxjs';
import type { Comparisons } from '../../imaging/comparisons.ts';
import { fitImage } from '../../imaging/fit-image.ts';
import type { ImageLimits } from '../../receivers/notice.ts';
import type { NoticeSources } from '../../receivers/notice-parts.ts';
import { infoIfReadable } from '../../storage/failures/store-errors.ts';
import type { ArtifactStore, ReadableFile } from '../../storage/ports/artifact-store.ts';

interface NoticeSourceParts extends Pick<NoticeSources, 'publicUrl' | 'share'> {
  readonly artifacts: Pick<ArtifactStore, 'open' | 'info'>;
  readonly comparisons: Comparisons;
}

/** Takes the places of no API key. */
const OWNER = 'notices';
/** Maximum size of an image that is read, in bytes. */
const MAX_READ_BYTES = 2 ** 26;

/** Returns what notices are made of. */
export function createNoticeSources({ artifacts, comparisons, publicUrl, share }: NoticeSourceParts): NoticeSources {
  return {
    publicUrl,
    share,
    async readImage(id, limits) {
      const artifact = await artifacts.open(id, 'image').catch(() => undefined);
      return artifact === undefined ? null : readFitting(artifact, limits);
    },
    async drawDifference({ before, after }, limits) {
      const [old, now] = await Promise.all([infoIfReadable(artifacts, before), infoIfReadable(artifacts, after)]);
      if (old === undefined || now === undefined) return null;
      const found = await comparisons.of(old, now, NEVER, OWNER, { draws: true }).catch(() => undefined);
      return found?.drawing ? readFitting(found.drawing, limits) : null;
    },
  };
}

/**
 * Returns the image, made to fit. Null when it is too large or cannot be read; the message is then sent without it.
 */
async function readFitting(image: ReadableFile, limits: ImageLimits) {
  if (image.bytes > MAX_READ_BYTES) {
    await image.close();
    return null;
  }
  return buffer(image.stream())
    .then((bytes) => fitImage(bytes, limits))
    .catch(() => null);
}
