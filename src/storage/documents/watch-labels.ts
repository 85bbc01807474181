import { bytesOf, type Document, type DocumentStore, whereKey } from '../ports/document-store.ts';

/*
 * Documents by which watches are listed by label. They are added before their watch has the labels and removed after it
 * has not, so a killed process can leave a label without a watch, but not the reverse.
 */

/** A watch with labels. `id`: as in its document. */
export interface Labelled {
  readonly id: number;
  readonly apiKeyName: string;
  readonly labels: readonly string[];
  /** Differs each time the labels change, so that removing earlier ones never removes those of another change. */
  readonly labelling: string;
}

interface LabelWanted {
  readonly label: string;
  readonly ofKey: string | undefined;
  /** Only watches with a greater id. */
  readonly after: number;
  readonly limit: number;
}

export function addLabels(documents: DocumentStore, watch: Labelled): Promise<void> {
  return documents.add('watch_labels', labelsOf(watch));
}

export async function removeLabels(documents: DocumentStore, watch: Labelled): Promise<void> {
  if (watch.labels.length === 0) return;
  await documents.remove('watch_labels', [['id', 'in', labelsOf(watch).map(({ id }) => id)]]);
}

export function bytesOfLabels(watch: Labelled): number {
  return labelsOf(watch).reduce((bytes, label) => bytes + bytesOf('watch_labels', label), 0);
}

/** Returns ids of watches that have, or had, a label, in ascending order. A watch can occur twice. */
export async function labelledAfter(documents: DocumentStore, wanted: LabelWanted): Promise<readonly number[]> {
  const { label, ofKey, after, limit } = wanted;
  const labels = await documents.list(
    'watch_labels',
    [['label', '=', label], ['watch', '>', after], ...whereKey(ofKey)],
    { by: 'watch', limit },
  );
  return labels.map(({ watch }) => watch);
}

function labelsOf({ id, apiKeyName, labels, labelling }: Labelled): readonly Document<'watch_labels'>[] {
  const each = { watch: id, apiKey: apiKeyName, body: '' };
  return labels.map((label) => ({ id: `${id}/${label}/${labelling}`, label, ...each }));
}
