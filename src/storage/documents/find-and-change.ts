import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import type { Condition, Document, DocumentStore, Order, Page, StoredDocument } from '../ports/document-store.ts';
import type { Table } from '../ports/document-tables.ts';

/** Returns labels as a field for the condition `has`: each between line breaks, which no label contains. */
export function labelsField(labels: readonly string[]): string {
  return labels.map((label) => `\n${label}\n`).join('');
}

/** Lists at most `limit` documents, and fewer when they are large, so that a page holds up no other request. */
export async function pageOf<T extends Table>(
  store: DocumentStore,
  table: T,
  where: readonly Condition<T>[],
  { limit, maxBytes = STORED_LIMITS.page.bytes, ...order }: Order<T> & { readonly limit: number },
): Promise<Page<StoredDocument<T>>> {
  const found = await store.list(table, where, { ...order, limit: limit + 1, maxBytes });
  const isFull = found.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0) >= maxBytes;
  return { items: found.slice(0, limit), isCut: isFull || found.length > limit };
}

export async function find<T extends Table>(
  store: DocumentStore,
  table: T,
  id: string,
  ...where: readonly Condition<T>[]
): Promise<StoredDocument<T> | undefined> {
  const [found] = await store.list(table, [['id', '=', id], ...where]);
  return found;
}

/**
 * Replaces a document by the result of `next`. Calls `next` again when another process changed the document meanwhile.
 * Returns the new document; undefined when `next` wants no change.
 */
export async function change<T extends Table>(
  store: DocumentStore,
  table: T,
  id: string,
  next: (found: StoredDocument<T> | undefined) => Document<T> | undefined,
): Promise<Document<T> | undefined> {
  for (;;) {
    const found = await find(store, table, id);
    const changed = next(found);
    if (changed === undefined || (await store.replace(table, changed, found?.revision))) return changed;
  }
}

/** Returns the conditions of the documents of an API key, or of all. */
export function whereKey(apiKey: string | undefined): readonly (readonly ['apiKey', '=', string])[] {
  return apiKey === undefined ? [] : [['apiKey', '=', apiKey]];
}
