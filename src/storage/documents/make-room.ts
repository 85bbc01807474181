import type { Amount } from '../../capture/stored-limits.ts';
import type { Condition, DocumentStore, StoredDocument } from '../ports/document-store.ts';
import type { Field, Table } from '../ports/document-tables.ts';

interface Room<T extends Table> {
  readonly table: T;
  readonly counted: readonly Condition<T>[];
  /** Conditions of those that may be removed. @default `counted` */
  readonly removable?: readonly Condition<T>[];
  /** Field of their age. */
  readonly by: Field<T>;
  /** Number of documents that are read and removed at once. */
  readonly together: number;
  readonly max: Amount;
}

/** Removes the oldest documents that are too many, as `oldestBeyond` says, in steps. */
export async function makeRoom<T extends Table>(
  documents: DocumentStore,
  { table, counted, removable = counted, by, together, max }: Room<T>,
): Promise<void> {
  for (;;) {
    const used = await documents.usage(table, counted);
    if (used.count <= max.count && used.bytes <= max.bytes) return;
    const oldestFirst = await documents.list(table, removable, { by, limit: together, isBrief: true });
    const removed = oldestBeyond(oldestFirst, used, max).map(({ id }) => id);
    if (removed.length === 0) return;
    await documents.remove(table, [['id', 'in', removed]]);
  }
}

/**
 * Returns the oldest documents that must be removed to bring what is `used` within `max`. The newest one stays even if
 * it alone is too large: its client has not read it yet.
 */
export function oldestBeyond<D extends Pick<StoredDocument, 'bytes'>>(
  oldestFirst: readonly D[],
  used: Amount,
  max: Amount,
): readonly D[] {
  let { count, bytes } = used;
  const firstKept = oldestFirst.findIndex((document, at) => {
    const isNewest = at === oldestFirst.length - 1;
    if (count <= max.count && (bytes <= max.bytes || isNewest)) return true;
    count -= 1;
    bytes -= document.bytes;
    return false;
  });
  return firstKept === -1 ? oldestFirst : oldestFirst.slice(0, firstKept);
}
