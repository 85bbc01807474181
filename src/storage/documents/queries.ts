import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import type { QueryRecord, QueryStore } from '../ports/query-store.ts';
import { change, find, whereKey } from './find-and-change.ts';

type Query = Omit<QueryRecord, 'id' | 'createdAt'>;

export function queriesIn(documents: DocumentStore): QueryStore {
  async function changeTo(id: string, next: (query: Query) => Partial<Query> | undefined): Promise<boolean> {
    const changed = await change(documents, 'queries', id, (found) => {
      const query = found && queryIn(found);
      const change = query && next(query);
      return found && change && { ...found, body: JSON.stringify({ ...query, ...change }) };
    });
    return changed !== undefined;
  }

  return {
    add: async ({ id, keysShare, ...query }, max) => {
      const body = JSON.stringify({ ...query, delivered: query.position, acknowledgedAt: null } satisfies Query);
      const document = {
        id,
        apiKey: query.apiKeyName ?? '',
        createdAt: await documents.now(),
        notifies: query.notify.length > 0 ? 1 : 0,
        body,
      };
      await documents.addWithin('queries', document, { max, keysShare });
    },
    get: async (id, apiKeyName) => {
      const found = await find(documents, 'queries', id, ...whereKey(apiKeyName));
      return found && recordIn(found);
    },
    notifying: async () =>
      (await documents.list('queries', [['notifies', '=', 1]], { isBrief: true })).map(({ id }) => id),
    newest: async (limit, apiKeyName) => {
      const newest = { by: 'createdAt', isDescending: true, limit } as const;
      return (await documents.list('queries', whereKey(apiKeyName), newest)).map(recordIn);
    },
    deliver: (id, upTo) => changeTo(id, ({ delivered }) => ({ delivered: Math.max(delivered, upTo) })),
    acknowledge: async (id, upTo) => {
      const acknowledgedAt = new Date(await documents.now()).toISOString();
      await changeTo(id, ({ position, delivered }) =>
        position <= upTo && delivered >= upTo ? { position: upTo, acknowledgedAt } : undefined,
      );
    },
    pass: async (id, from, to) => {
      await changeTo(id, ({ position, delivered }) =>
        position === delivered && position >= from && position < to ? { position: to, delivered: to } : undefined,
      );
    },
    remove: async (id) => (await documents.remove('queries', [['id', '=', id]])) > 0,
  };
}

function queryIn({ body }: StoredDocument<'queries'>): Query {
  const query: Query = JSON.parse(body);
  return query;
}

function recordIn(document: StoredDocument<'queries'>): QueryRecord {
  return { ...queryIn(document), id: document.id, createdAt: new Date(document.createdAt).toISOString() };
}
