import { unaccented } from '../../words/folded.ts';
import type { Condition, DocumentStore } from '../ports/document-store.ts';
import { type LabelStore, MAX_LABELS_OF_KEY } from '../ports/label-store.ts';

const TABLE = 'capture_labels';
/** Maximum number of labels of all keys that are looked through. */
const MAX_LOOKED_AT = 5000;

/** A document for each label of an API key: `kind` is the label, `at` the time at which it was noted first. */
export function captureLabelsIn(documents: DocumentStore): LabelStore {
  return {
    note: async (apiKeyName, labels) => {
      if (labels.length === 0) return;
      const [of, at] = [apiKeyName ?? '', await documents.now()];
      const noted = labels.map((label) => ({ id: `${of}\n${label}`, of, kind: label, at, due: null, body: '' }));
      await documents.add(TABLE, noted);
      const surplus = (await documents.count(TABLE, [['of', '=', of]])) - MAX_LABELS_OF_KEY;
      if (surplus <= 0) return;
      const oldest = await documents.list(TABLE, [['of', '=', of]], { by: 'at', limit: surplus, isBrief: true });
      await documents.remove(TABLE, [['id', 'in', oldest.map(({ id }) => id)]]);
    },
    find: async (text, limit, ofKey) => {
      const order = { by: 'kind', limit: MAX_LOOKED_AT, isBrief: true } as const;
      const wanted = unaccented(text);
      const found = await documents.list(TABLE, ofOwner(ofKey), order);
      const labels = new Set(found.map(({ kind }) => kind).filter((label) => unaccented(label).includes(wanted)));
      return [...labels].toSorted((a, b) => a.localeCompare(b, 'en')).slice(0, limit);
    },
    forget: async (labels, ofKey) => {
      if (labels.length > 0) await documents.remove(TABLE, [['kind', 'in', labels], ...ofOwner(ofKey)]);
    },
  };
}

function ofOwner(ofKey: string | undefined): readonly Condition[] {
  return ofKey === undefined ? [] : [['of', '=', ofKey]];
}
