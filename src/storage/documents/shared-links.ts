import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import { type Condition, type DocumentStore, find, type StoredDocument, whereKey } from '../ports/document-store.ts';
import type { SharedLink, SharedLinkStore } from '../ports/shared-link-store.ts';

export function sharedLinksIn(documents: DocumentStore): SharedLinkStore {
  return {
    add: async (link, isShared, max = STORED_LIMITS.sharedLinks) => {
      await documents.remove('shared_links', [['expiresAt', '<=', link.createdAt]]);
      const { id, apiKeyName, capture, expiresAt } = link;
      const document = { id, apiKey: apiKeyName ?? '', capture, expiresAt, body: JSON.stringify(link) };
      const room = {
        max,
        where: [],
        isShared,
        isExact: true,
        code: 'too_many_shared_links',
        text: 'shared links',
      } as const;
      await documents.addWithin('shared_links', document, room);
    },
    get: async (id, now) => {
      const found = await find(documents, 'shared_links', id);
      const link = found && linkIn(found);
      return link !== undefined && link.expiresAt > now ? link : undefined;
    },
    list: async ({ ofKey, capture, limit, after, now }) => {
      const where: readonly Condition<'shared_links'>[] = [
        ['expiresAt', '>', now],
        ...whereKey(ofKey),
        ...(capture === undefined ? [] : [['capture', '=', capture] as const]),
        ...(after === undefined ? [] : [['id', '<', after] as const]),
      ];
      return (await documents.list('shared_links', where, { isDescending: true, limit })).map(linkIn);
    },
    remove: (ids, ofKey) => documents.remove('shared_links', [['id', 'in', ids], ...whereKey(ofKey)]),
  };
}

function linkIn({ body }: StoredDocument<'shared_links'>): SharedLink {
  const link: SharedLink = JSON.parse(body);
  return link;
}
