import { buffer } from 'node:stream/consumers';
import { NEVER } from 'rxjs';
import type { Comparisons } from '../imaging/comparisons.ts';
import { fitImage } from '../imaging/fit-image.ts';
import type { NoticeSources } from '../receivers/notice-parts.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';

interface NoticeSourceParts extends Pick<NoticeSources, 'publicUrl' | 'share'> {
  readonly artifacts: Pick<ArtifactStore, 'open' | 'info'>;
  readonly comparisons: Comparisons;
}

/** Takes the places of no API key. */
const OWNER = 'notices';

/** Returns what notices are made of. */
export function createNoticeSources({ artifacts, comparisons, publicUrl, share }: NoticeSourceParts): NoticeSources {
  return {
    publicUrl,
    share,
    async readImage(id, limits) {
      const artifact = await artifacts.open(id, 'image').catch(() => undefined);
      // A message is told without an image that cannot be read.
      return artifact === undefined ? null : fitImage(await buffer(artifact.stream()), limits).catch(() => null);
    },
    async drawDifference({ before, after }, limits) {
      const [old, now] = await Promise.all([artifacts.info(before), artifacts.info(after)]);
      if (old === undefined || now === undefined) return null;
      const found = await comparisons.of(old, now, NEVER, OWNER, { draws: true }).catch(() => undefined);
      return found?.drawing ? fitImage(Buffer.from(found.drawing.buffer), limits).catch(() => null) : null;
    },
  };
}
