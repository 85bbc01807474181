import { unaccented } from '../../words/folded.ts';
import { type DocumentStore, whereKey } from '../ports/document-store.ts';
import { type LabelStore, MAX_LABELS_OF_KEY } from '../ports/label-store.ts';

const TABLE = 'capture_labels';
/** Maximum number of labels of all keys that are looked through. */
const MAX_LOOKED_AT = 5000;

export function captureLabelsIn(documents: DocumentStore): LabelStore {
  return {
    note: async (apiKeyName, labels) => {
      if (labels.length === 0) return;
      const [apiKey, notedAt] = [apiKeyName ?? '', await documents.now()];
      const noted = labels.map((label) => ({ id: `${apiKey}\n${label}`, apiKey, label, notedAt, body: '' }));
      await documents.add(TABLE, noted);
      const surplus = (await documents.usage(TABLE, whereKey(apiKey))).count - MAX_LABELS_OF_KEY;
      if (surplus <= 0) return;
      const oldest = await documents.list(TABLE, whereKey(apiKey), { by: 'notedAt', limit: surplus, isBrief: true });
      await documents.remove(TABLE, [['id', 'in', oldest.map(({ id }) => id)]]);
    },
    find: async (text, limit, ofKey) => {
      const order = { by: 'label', limit: MAX_LOOKED_AT, isBrief: true } as const;
      const wanted = unaccented(text);
      const found = await documents.list(TABLE, whereKey(ofKey), order);
      const labels = new Set(found.map(({ label }) => label).filter((label) => unaccented(label).includes(wanted)));
      return [...labels].toSorted((a, b) => a.localeCompare(b, 'en')).slice(0, limit);
    },
    forget: async (labels, ofKey) => {
      if (labels.length > 0) await documents.remove(TABLE, [['label', 'in', labels], ...whereKey(ofKey)]);
    },
  };
}
