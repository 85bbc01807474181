import type { Condition, DocumentStore } from '../ports/document-store.ts';
import type { FeedLink, SharedLink, SharedLinkStore } from '../ports/shared-link-store.ts';
import { change, find, whereKey } from './find-and-change.ts';

/** Id under which feeds are stored as links. No capture has it. */
const NO_CAPTURE = 0;
/** Id under which a link of messages is stored that was removed. */
const REVOKED = -1;
const OF_CAPTURES = ['capture', '>', NO_CAPTURE] as const;
const OF_FEEDS = ['capture', '=', NO_CAPTURE] as const;

export function sharedLinksIn(documents: DocumentStore): SharedLinkStore {
  const linkIn = async <L extends SharedLink | FeedLink>(id: string, kind: Condition<'shared_links'>) => {
    const found = await find(documents, 'shared_links', id, kind);
    return found && parsed<L>(found);
  };
  return {
    add: async (link, keysShare, max) => {
      await documents.remove('shared_links', [['expiresAt', '<=', link.createdAt]]);
      const { id, apiKeyName, expiresAt } = link;
      const capture = 'capture' in link ? link.capture : NO_CAPTURE;
      const document = { id, apiKey: apiKeyName ?? '', capture, expiresAt, body: JSON.stringify(link) };
      await documents.addWithin('shared_links', document, { max, keysShare });
    },
    get: async (id, now) => {
      const link = await linkIn<SharedLink>(id, OF_CAPTURES);
      return link !== undefined && link.expiresAt > now ? link : undefined;
    },
    list: async ({ ofKey, capture, limit, after, now }) => {
      const where: readonly Condition<'shared_links'>[] = [
        ['expiresAt', '>', now],
        ...whereKey(ofKey),
        capture === undefined ? OF_CAPTURES : ['capture', '=', capture],
        ...before(after),
      ];
      return (await documents.list('shared_links', where, { isDescending: true, limit })).map(parsed<SharedLink>);
    },
    getFeed: (id) => linkIn<FeedLink>(id, OF_FEEDS),
    listFeeds: async ({ ofKey, limit, after }) => {
      const where = [OF_FEEDS, ...whereKey(ofKey), ...before(after)];
      return (await documents.list('shared_links', where, { isDescending: true, limit })).map(parsed<FeedLink>);
    },
    remove: async (ids, ofKey) => {
      const where = [['id', 'in', ids] as const, OF_CAPTURES, ...whereKey(ofKey)];
      const found = await documents.list('shared_links', where);
      const ofMessages = found.filter((link) => parsed<SharedLink>(link).isOfMessage);
      for (const { id } of ofMessages) {
        await change(documents, 'shared_links', id, (link) => link && { ...link, capture: REVOKED });
      }
      return ofMessages.length + (await documents.remove('shared_links', where));
    },
    removeFeed: (id, ofKey) => documents.remove('shared_links', [['id', '=', id], OF_FEEDS, ...whereKey(ofKey)]),
  };
}

function before(after: string | undefined): readonly Condition<'shared_links'>[] {
  return after === undefined ? [] : [['id', '<', after]];
}

function parsed<L extends SharedLink | FeedLink>({ body }: { readonly body: string }): L {
  const link: L = JSON.parse(body);
  return link;
}
