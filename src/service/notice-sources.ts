import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { NEVER } from 'rxjs';
import { DEFAULT_SHARE_MS } from '../capture/shared-link.ts';
import type { Comparisons } from '../imaging/comparisons.ts';
import { fitImage } from '../imaging/fit-image.ts';
import { capturesOf, type NoticeSources } from '../receivers/notice-parts.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import type { SharedLink, SharedLinkStore } from '../storage/ports/shared-link-store.ts';

export interface NoticeSourceParts {
  readonly artifacts: Pick<ArtifactStore, 'open' | 'info'>;
  readonly comparisons: Comparisons;
  readonly sharedLinks: Pick<SharedLinkStore, 'add'>;
  /** URL by which people reach the service. */
  readonly publicUrl: string | null;
  /** Returns the path and query of a shared link, or of an image of its page; null: nothing can be signed. */
  readonly sign:
    | ((link: Pick<SharedLink, 'id' | 'expiresAt'>, part?: 'image' | 'other' | 'difference') => string)
    | null;
  /** Whether the captures of an API key are seen by it alone. */
  readonly isIsolated: (apiKeyName: string | null) => boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Takes the places of no API key: receivers are told one after the other. */
const OWNER = 'notices';

/** Returns what notices are made of: images of captures, and shared links to them. */
export function createNoticeSources(parts: NoticeSourceParts): NoticeSources {
  const { artifacts, comparisons, sharedLinks, publicUrl, sign, isIsolated, clock } = parts;
  return {
    publicUrl,
    async share(event) {
      const captures = capturesOf(event);
      if (captures === null || publicUrl === null || sign === null) return null;
      const { before, after } = captures;
      const isPair = before !== null;
      const now = clock();
      const apiKeyName = event.api_key_name;
      const link: SharedLink = {
        id: `${now.toString(36)}-${randomBytes(16).toString('base64url')}`,
        apiKeyName,
        sees: isIsolated(apiKeyName) ? apiKeyName : null,
        capture: isPair ? before : after,
        other: isPair ? after : null,
        view: 'page',
        createdAt: now,
        expiresAt: Math.floor((now + DEFAULT_SHARE_MS) / 1000) * 1000,
      };
      await sharedLinks.add(link, apiKeyName !== null);
      const url = (part?: 'image' | 'other' | 'difference') => `${publicUrl.replace(/\/+$/, '')}${sign(link, part)}`;
      return {
        page: url(),
        image: url('image'),
        later: isPair ? url('other') : null,
        difference: isPair ? url('difference') : null,
      };
    },
    async readImage(id, limits) {
      const artifact = await artifacts.open(id, 'image').catch(() => undefined);
      return artifact === undefined ? null : fitImage(await buffer(artifact.stream()), limits);
    },
    async drawDifference({ before, after }, limits) {
      const [old, now] = await Promise.all([artifacts.info(before), artifacts.info(after)]);
      if (old === undefined || now === undefined) return null;
      const found = await comparisons.of(old, now, NEVER, OWNER, { draws: true }).catch(() => undefined);
      return found?.drawing ? fitImage(Buffer.from(found.drawing.buffer), limits) : null;
    },
  };
}
