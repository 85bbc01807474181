import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import type { GivenReceiver, ReceiverStore } from '../ports/receiver-store.ts';
import { find, whereKey } from './find-and-change.ts';

const TABLE = 'receivers';

export function receiversIn(documents: DocumentStore): ReceiverStore {
  return {
    add: async ({ apiKeyName, name, body }, keysShare) => {
      const id = idOf(apiKeyName, name);
      if ((await find(documents, TABLE, id)) !== undefined) return false;
      await documents.addWithin(TABLE, { id, apiKey: apiKeyName ?? '', name, body }, { keysShare });
      return true;
    },
    get: async (apiKeyName, name) => {
      const found = await find(documents, TABLE, idOf(apiKeyName, name));
      return found && receiverIn(found);
    },
    list: async (ofKey) => (await documents.list(TABLE, whereKey(ofKey), { by: 'name' })).map(receiverIn),
    remove: async (apiKeyName, name) => (await documents.remove(TABLE, [['id', '=', idOf(apiKeyName, name)]])) > 0,
  };
}

function idOf(apiKeyName: string | null, name: string): string {
  return `${apiKeyName ?? ''}/${name}`;
}

function receiverIn({ apiKey, name, body }: StoredDocument<'receivers'>): GivenReceiver {
  return { apiKeyName: apiKey === '' ? null : apiKey, name, body };
}
