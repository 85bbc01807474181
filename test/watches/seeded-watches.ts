import { ANY_CLIENT } from '../../src/capture/client.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../src/capture/request.ts';
import { watchesIn } from '../../src/storage/documents/watches.ts';
import { mongoDocuments } from '../../src/storage/mongo/document-store.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { Database } from '../../src/storage/ports/database.ts';
import type { Document, DocumentStore } from '../../src/storage/ports/document-store.ts';
import type { Table } from '../../src/storage/ports/document-tables.ts';
import { KEPT_EVENTS } from '../../src/storage/ports/event-log.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { SqliteThread } from '../../src/storage/sqlite/thread.ts';
import { NO_PROGRESS, packProgress, packWatch } from '../../src/watches/stored-form.ts';

/** Opens a database by its URL or the path of its file. */
export function openDatabase(place: string): Promise<Database> {
  return place.startsWith('mongodb:') ? openMongo({ url: place }) : openSqlite({ path: place });
}

export interface Seeds {
  readonly count: number;
  readonly every: string;
  readonly hosts: number;
  /** The names of the keys that take turns; none without a key. */
  readonly keys?: readonly string[];
  readonly label?: (id: number) => readonly string[];
  readonly dueAt: (id: number) => number | null;
}

/** Adds watches with the ids 1 to `count`, many at once: their store adds them one by one. */
export async function seedWatches(place: string, seeds: Seeds): Promise<void> {
  const watch = requestSchemas(DEFAULT_LIMITS).watch;
  const added = new Map<Table, Document[]>();
  const collect = async (table: Table, documents: Document | readonly Document[]) => {
    const known = added.get(table) ?? [];
    added.set(table, known);
    known.push(...[documents].flat());
  };
  const collecting: DocumentStore = Object.assign(Object.create(null), { add: collect, addWithin: collect });
  const store = watchesIn(collecting);
  const createdAt = new Date().toISOString();
  for (let id = 1; id <= seeds.count; id += 1) {
    const written = { url: `http://host${id % seeds.hosts}.test/${id}`, every: seeds.every };
    const wanted = watch.parse(written);
    const { request, rules } = wanted;
    await store.add({
      id,
      apiKeyName: seeds.keys?.[id % seeds.keys.length] ?? '',
      host: request.target.host,
      everyMs: rules.every ?? null,
      dueAt: seeds.dueAt(id),
      labels: seeds.label?.(id) ?? [],
      ...packWatch(written, wanted, { by: ANY_CLIENT, createdAt, isPaused: false }),
      progress: packProgress(NO_PROGRESS),
      keysShare: false,
    });
  }
  await using documents = await openDocuments(place);
  for (const [table, seeded] of added) {
    for (let at = 0; at < seeded.length; at += 1000) await documents.store.add(table, seeded.slice(at, at + 1000));
  }
}

async function openDocuments(place: string) {
  if (place.startsWith('mongodb:')) {
    const mongo = await openMongo({ url: place });
    return { store: mongoDocuments(mongo.database, mongo.ask), [Symbol.asyncDispose]: () => mongo.close() };
  }
  const thread = new SqliteThread({ path: place, keptEvents: KEPT_EVENTS }, () => {});
  await thread.settled;
  return { store: thread.table('documents'), [Symbol.asyncDispose]: () => thread.close() };
}
