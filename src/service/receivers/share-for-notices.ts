import { createHash } from 'node:crypto';
import { fingerprintOf, keyDigest } from '../../capture/basics/key-digest.ts';
import { DAY_MS, DEFAULT_SHARE_MS } from '../../capture/finding/shared-link.ts';
import { linkIdOf, linkOf, type Part } from '../../capture/finding/shared-urls.ts';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import type { ReceiversConfig } from '../../config/slices.ts';
import type { NoticeSources } from '../../receivers/notice-parts.ts';
import type { SharedLink, SharedLinkStore } from '../../storage/ports/shared-link-store.ts';
import { timeOfId } from '../../storage/records/ids.ts';

/** Half of the room for links: what people share and their feeds have the rest. */
const { count, bytes } = STORED_LIMITS.sharedLinks;
const ROOM = { count: count / 2, bytes: bytes / 2 };

type Sharing = Pick<ReceiversConfig, 'publicUrl' | 'signingKey' | 'maxShareDays' | 'apiKey' | 'namedKeys'>;

/**
 * Returns the function that shares the captures of a message with its readers, as `POST /screenshot/{id}/share` does
 * for a client. Nothing is shared without `--public-url` and `--signing-key`, or when there is no room for a further
 * link.
 */
export function shareForNotices(
  config: Sharing,
  links: Pick<SharedLinkStore, 'add' | 'get'>,
  keysShare: () => boolean,
): NoticeSources['share'] {
  const { publicUrl } = config;
  const [signingKey] = config.signingKey;
  if (publicUrl === null || signingKey === undefined) return async () => null;
  const base = publicUrl.replace(/\/+$/, '');
  const forMs = Math.min(DEFAULT_SHARE_MS, config.maxShareDays * DAY_MS);
  const fingerprint = unnamedFingerprint(config);

  /** Null without room, and for a link that was revoked. Another receiver of the event may have added it meanwhile. */
  const added = async (link: SharedLink): Promise<SharedLink | null> => {
    await links.add(link, keysShare(), ROOM).catch(() => undefined);
    return (await links.get(link.id, link.createdAt)) ?? null;
  };

  return async ({ before, after }, apiKeyName) => {
    const now = Date.now();
    // The same for each attempt to send the message, so that all have one link.
    const digest = createHash('sha256')
      .update(JSON.stringify([before, after, apiKeyName]))
      .digest('hex');
    const id = linkIdOf(timeOfId(after).getTime(), digest.slice(0, 24));
    const wanted: SharedLink = {
      ...{ id, apiKeyName, fingerprint: apiKeyName === null ? fingerprint : null, view: 'page' },
      ...{ capture: before ?? after, other: before === null ? null : after, createdAt: now },
      expiresAt: Math.floor((now + forMs) / 1000) * 1000,
      isOfMessage: true,
    };
    const link = (await links.get(id, now)) ?? (await added(wanted));
    if (link === null) return null;
    const urlOf = (part?: Part) => `${base}${linkOf(link, signingKey, part)}`;
    return {
      page: urlOf(),
      image: urlOf('image'),
      later: before === null ? null : urlOf('other'),
      difference: before === null ? null : urlOf('difference'),
    };
  };
}

/** Keys without a name see the captures of each other, so links of any of them are links of the first. */
function unnamedFingerprint({ apiKey, namedKeys }: Pick<Sharing, 'apiKey' | 'namedKeys'>): string | null {
  const named = new Set(namedKeys.map(({ key }) => key));
  const unnamed = apiKey.find((key) => !named.has(key));
  return unnamed === undefined ? null : fingerprintOf(keyDigest(unnamed));
}
