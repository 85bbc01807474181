import { buffer } from 'node:stream/consumers';
import { NEVER } from 'rxjs';
import type { Comparisons } from '../imaging/comparisons.ts';
import { fitImage } from '../imaging/fit-image.ts';
import type { ImageLimits } from '../receivers/notice.ts';
import type { NoticeSources } from '../receivers/notice-parts.ts';
import type { ArtifactStore, OpenArtifact } from '../storage/ports/artifact-store.ts';

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
      const [old, now] = await Promise.all([artifacts.info(before), artifacts.info(after)]);
      if (old === undefined || now === undefined) return null;
      const found = await comparisons.of(old, now, NEVER, OWNER, { draws: true }).catch(() => undefined);
      return found?.drawing ? readFitting(found.drawing, limits) : null;
    },
  };
}

/** Returns an image that fits; null, without which a message is told, when it cannot be read or is too large. */
async function readFitting(image: Pick<OpenArtifact, 'bytes' | 'stream' | 'close'>, limits: ImageLimits) {
  if (image.bytes <= MAX_READ_BYTES) return fitImage(await buffer(image.stream()), limits).catch(() => null);
  await image.close();
  return null;
}
