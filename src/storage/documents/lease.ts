import type { Document, DocumentStore, StoredDocument } from '../ports/document-store.ts';
import type { LeasedTable } from '../ports/document-tables.ts';
import { change } from './find-and-change.ts';

/*
 * A leased document belongs to one process at a time: to its `owner`, until it is free. A process that dies does not
 * renew its leases, so they run out. Every step is a change of one revision, so of two processes one succeeds.
 */

/** The lease of a document that any process may take. */
export const FREE = { owner: '', freeAt: 0 } as const;

/** Changes a document of this owner; undefined when it has another, or `next` wants no change. */
export function changeOwn<T extends LeasedTable>(
  documents: DocumentStore,
  table: T,
  id: string,
  owner: string,
  next: (found: StoredDocument<T>) => Document<T> | undefined,
): Promise<Document<T> | undefined> {
  return change(documents, table, id, (found) => (found?.owner === owner ? next(found) : undefined));
}

/** Makes the lease of this owner end `leaseMs` from now, by the clock of the database. False: it has another owner. */
export async function renew(
  documents: DocumentStore,
  table: Exclude<LeasedTable, 'watches'>,
  id: string,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  const freeAt = (await documents.now()) + leaseMs;
  return (await changeOwn(documents, table, id, owner, (found) => ({ ...found, freeAt }))) !== undefined;
}

/** Ends the lease of this owner. */
export async function release(
  documents: DocumentStore,
  table: Exclude<LeasedTable, 'watches'>,
  id: string,
  owner: string,
  freeAt: number = FREE.freeAt,
): Promise<void> {
  await changeOwn(documents, table, id, owner, (found) => ({ ...found, ...FREE, freeAt }));
}
