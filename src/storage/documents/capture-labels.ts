import { takeTurns } from '../../capture/basics/event-loop-turns.ts';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import { unaccented } from '../../words/folded.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { type LabelStore, MAX_LABELS_LOOKED_THROUGH } from '../ports/label-store.ts';
import { whereKey } from './find-and-change.ts';
import { makeRoom } from './make-room.ts';

const TABLE = 'capture_labels';
/** Order in which labels are looked through: all of a key, or the newest of all keys. */
const LOOKED_THROUGH = { by: 'notedAt', isDescending: true, limit: MAX_LABELS_LOOKED_THROUGH, isBrief: true } as const;
/** Each capture with new labels removes as many: not all labels of its key are read for that. */
const REMOVED_TOGETHER = 100;

export function captureLabelsIn(documents: DocumentStore): LabelStore {
  return {
    note: async (apiKeyName, labels) => {
      if (labels.length === 0) return;
      const [apiKey, notedAt] = [apiKeyName ?? '', await documents.now()];
      const noted = labels.map((label) => ({ id: `${apiKey}\n${label}`, apiKey, label, notedAt, body: '' }));
      await documents.add(TABLE, noted);
      await makeRoom(documents, {
        table: TABLE,
        counted: whereKey(apiKey),
        by: 'notedAt',
        together: REMOVED_TOGETHER,
        max: STORED_LIMITS.labels,
      });
    },
    find: async (text, limit, ofKey) => {
      const wanted = unaccented(text);
      const found = await documents.list(TABLE, whereKey(ofKey), LOOKED_THROUGH);
      const labels = new Set<string>();
      const letOthers = takeTurns();
      for (const { label } of found) {
        await letOthers();
        if (unaccented(label).includes(wanted)) labels.add(label);
      }
      return [...labels].toSorted(new Intl.Collator('en').compare).slice(0, limit);
    },
    forget: async (labels, ofKey) => {
      if (labels.length > 0) await documents.remove(TABLE, [['label', 'in', labels], ...whereKey(ofKey)]);
    },
  };
}
